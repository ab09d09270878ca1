import type { Database } from '../../../platform/postgres/database.ts'
import { numberInvalid } from '../errors.ts'
import { faultOf, keyOf, type NumberRule } from './numbers.ts'
import { listAllCarriers } from './repository.ts'

type Carrier = {
  readonly code: string
  readonly name: string
  readonly tracking_url: string | null
  readonly number_rules: readonly NumberRule[]
}
/** What stands on a parcel, as somebody has typed it. */
export type Typed = {
  readonly carrier: string | null
  readonly tracking_number: string | null
  /** The number is taken as it is, whatever is wrong with it. */
  readonly unchecked: boolean
}

/** All carriers that the shop knows. */
export async function readCarriers(db: Database) {
  const carriers: readonly Carrier[] = await db.rows(listAllCarriers)
  const byCode = new Map(carriers.map(carrier => [carrier.code, carrier]))
  const byName = new Map(carriers.map(carrier => [carrier.name.toLowerCase(), carrier]))

  return {
    /**
     * The carrier, by its code or its name; one that is not known is taken by its word, with any number.
     * @throws `SHIPPING_NUMBER_INVALID`
     */
    labelOf: ({ carrier: typed, tracking_number: number, unchecked }: Typed) => {
      const word = typed?.trim().toLowerCase() ?? ''
      const carrier = byCode.get(word) ?? byName.get(word)
      const fault = number === null || unchecked ? undefined : faultIn(number, carrier)
      if (fault !== undefined) throw numberInvalid({ details: { errors: [fault], carrier: carrier?.name } })
      return {
        carrier: carrier?.name ?? typed,
        carrier_code: carrier?.code ?? null,
        tracking_number: number !== null && carrier !== undefined ? keyOf(number) : number,
        tracking_key: number === null ? null : keyOf(number)
      }
    },
    /** Where the carrier says where the parcel is. */
    urlOf: (code: string | null, number: string | null): string | null => {
      const template = code === null ? null : (byCode.get(code)?.tracking_url ?? null)
      return number === null || template === null
        ? null
        : template.replace('{tracking_number}', () => encodeURIComponent(number))
    }
  }
}
export type Directory = Awaited<ReturnType<typeof readCarriers>>

const MESSAGES = {
  form: 'does not look like a number of this carrier',
  check_digit: 'is not right: its check digit is another one'
}

function faultIn(number: string, carrier: Carrier | undefined) {
  const path = 'body/tracking_number'
  if (keyOf(number) === '') return { path, message: 'must have letters or digits' }
  const fault = faultOf(number, carrier?.number_rules ?? [])
  return fault && { path, message: MESSAGES[fault] }
}
