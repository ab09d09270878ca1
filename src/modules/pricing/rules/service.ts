import { type Changes, keep } from '../../../platform/kept.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { listUses } from '../budgets/repository.ts'
import { listHoldingExemptions } from '../exemptions/repository.ts'
import { EXEMPTIONS_MAX } from '../exemptions/schema.ts'
import { listAutomatic, listByCodes } from '../promotions/repository.ts'
import { AUTOMATIC_MAX } from '../promotions/schema.ts'
import { normalizeCode } from '../quote/codes.ts'
import type { Buyer, Promotion, QuoteRules } from '../quote/input.ts'
import { QUOTE_LIMITS } from '../quote/limits.ts'
import type { HasOrdered } from '../redemptions/doors.ts'
import { listHoldingRates } from '../taxes/repository.ts'
import { RATES_MAX } from '../taxes/schema.ts'
import { exemptionsOf, promotionOf, taxZonesOf } from './mapping.ts'

/** What a quote takes of the shop, but for the rates of deliveries; and what the shop knows of the buyer. */
export type Rules = Omit<QuoteRules, 'ratesOf'> & { readonly buyer: Omit<Buyer, 'group'> }
/**
 * `customer`: the account, or a keyed hash that stands for a guest; null: not known. `mailbox`: the keyed hash of the buyer's e-mail
 * address, for which uses of paid orders count; null: they are not looked up.
 */
type Asked = {
  readonly codes: readonly string[]
  readonly customer: string | null
  readonly mailbox?: string | null
  /**
   * Whether the buyer has proven who they are. Otherwise promotions without a code that depend on earlier orders are left out, because
   * the price would reveal what a typed e-mail address has bought. Called only when there are some; left out: true.
   */
  readonly isProven?: () => Promise<boolean>
}
type Deps = { db: Queryable; changes: Changes; exemptionChanges: Changes; hasOrdered: HasOrdered }

/**
 * What quotes rest on: promotions that need no code, taxes, and who is exempt from them, are in the memory of this process.
 * Codes are looked up, and so is what is left of what has a limit: as of now, so that whoever is quoted something can mostly
 * have it.
 */
export function createRules({ db, changes, exemptionChanges, hasOrdered }: Deps) {
  const readAutomatic = keep(changes, async () => {
    const rows = await db.rows(listAutomatic, { limit: AUTOMATIC_MAX })
    return rows.map(promotionOf)
  })
  const readTaxZones = keep(changes, async () =>
    taxZonesOf(await db.rows(listHoldingRates, { limit: RATES_MAX }))
  )
  const readExemptions = keep(exemptionChanges, async () =>
    exemptionsOf(await db.rows(listHoldingExemptions, { limit: EXEMPTIONS_MAX }))
  )

  async function readAutomaticFor(isProven: () => Promise<boolean>): Promise<readonly Promotion[]> {
    const automatic = await readAutomatic()
    if (!automatic.some(dependsOnHistory) || (await isProven())) return automatic
    return automatic.filter(promotion => !dependsOnHistory(promotion))
  }

  /** Where nothing is for first orders alone, nobody asks. */
  async function isFirstOrder(
    customer: string | null,
    mailbox: string | null,
    promotions: Iterable<Promotion>
  ): Promise<boolean> {
    const isAsked = [...promotions].some(({ firstOrderOnly }) => firstOrderOnly)
    return !isAsked || customer === null || !(await hasOrdered(db, customer, null, mailbox))
  }

  /** See `PricingApi.rules`. */
  return async ({ codes, customer, mailbox = null, isProven = async () => true }: Asked): Promise<Rules> => {
    const [automatic, taxZones, exemptions] = await Promise.all([
      readAutomaticFor(isProven),
      readTaxZones(),
      // Nobody is exempt who has no account.
      customer === null ? undefined : readExemptions()
    ])
    const limited = automatic.filter(isLimited).map(({ id }) => id)
    // More codes than that no quote takes, which says so.
    const wanted = [...new Set(codes.map(normalizeCode))].slice(0, QUOTE_LIMITS.codes)
    const [uses, coded] = await Promise.all([
      limited.length === 0 ? [] : db.rows(listUses, { ids: limited, customer, mailbox }),
      wanted.length === 0 ? [] : db.rows(listByCodes, { codes: wanted, customer, mailbox })
    ])
    const leftOf = new Map(uses.map(row => [row.id, row.uses_left]))
    const promotions = new Map<string, Promotion>()
    for (const promotion of automatic)
      promotions.set(promotion.id, {
        ...promotion,
        usesLeft: leftOf.get(promotion.id) ?? promotion.usesLeft
      })
    for (const row of coded) promotions.set(row.id, promotionOf(row))
    const isFirst =
      ![...uses, ...coded].some(row => row.has_ordered) &&
      (await isFirstOrder(customer, mailbox, promotions.values()))
    return {
      promotions: [...promotions.values()],
      codes: new Map(coded.map(row => [row.code, { promotionId: row.id, usesLeft: row.code_uses_left }])),
      taxZones,
      buyer: {
        used: new Map([...uses, ...coded].map(row => [row.id, row.used])),
        exemptions: exemptions?.get(customer ?? '') ?? [],
        isFirstOrder: isFirst
      }
    }
  }
}
export type ReadRules = ReturnType<typeof createRules>

const dependsOnHistory = ({ usesPerCustomer, firstOrderOnly }: Promotion) =>
  usesPerCustomer !== null || firstOrderOnly
const isLimited = (promotion: Promotion) => promotion.usesLeft !== null || dependsOnHistory(promotion)
