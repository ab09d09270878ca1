import type { Database } from '../../../platform/postgres/database.ts'
import { trackingNumberInvalidError } from '../errors.ts'
import { listAllCarriers } from './repository.ts'
import {
  findTrackingNumberFault,
  normalizeTrackingNumber,
  type TrackingNumberFormat
} from './tracking-numbers.ts'

type Carrier = {
  readonly code: string
  readonly name: string
  readonly tracking_url: string | null
  readonly number_rules: readonly TrackingNumberFormat[]
}
/** Carrier and tracking number of a parcel, as an administrator entered them. */
export type ParcelTrackingInput = {
  readonly carrier: string | null
  readonly tracking_number: string | null
  /** Stores the number without validation. */
  readonly unchecked: boolean
}

/** Loads all carriers. */
export async function loadCarrierDirectory(db: Database) {
  const carriers: readonly Carrier[] = await db.rows(listAllCarriers)
  const byCode = new Map(carriers.map(carrier => [carrier.code, carrier]))
  const byName = new Map(carriers.map(carrier => [carrier.name.toLowerCase(), carrier]))

  return {
    /**
     * Finds the carrier by code or name, and validates the number. An unknown carrier is stored as entered, with any number.
     * @throws `SHIPPING_NUMBER_INVALID`
     */
    labelOf: ({ carrier: entered, tracking_number: number, unchecked }: ParcelTrackingInput) => {
      const key = entered?.trim().toLowerCase() ?? ''
      const carrier = byCode.get(key) ?? byName.get(key)
      const fault = number === null || unchecked ? undefined : faultIn(number, carrier)
      if (fault !== undefined)
        throw trackingNumberInvalidError({ details: { errors: [fault], carrier: carrier?.name } })
      return {
        carrier: carrier?.name ?? entered,
        carrier_code: carrier?.code ?? null,
        tracking_number: number !== null && carrier !== undefined ? normalizeTrackingNumber(number) : number,
        tracking_key: number === null ? null : normalizeTrackingNumber(number)
      }
    },
    /** Returns the carrier's tracking page of a number. */
    urlOf: (code: string | null, number: string | null): string | null => {
      const template = code === null ? null : (byCode.get(code)?.tracking_url ?? null)
      return number === null || template === null
        ? null
        : template.replace('{tracking_number}', () => encodeURIComponent(number))
    }
  }
}
export type CarrierDirectory = Awaited<ReturnType<typeof loadCarrierDirectory>>

const MESSAGES = {
  form: 'does not have the format of this carrier',
  check_digit: 'has a wrong check digit'
}

function faultIn(number: string, carrier: Carrier | undefined) {
  const path = 'body/tracking_number'
  if (normalizeTrackingNumber(number) === '') return { path, message: 'must have letters or digits' }
  const fault = findTrackingNumberFault(number, carrier?.number_rules ?? [])
  return fault && { path, message: MESSAGES[fault] }
}
