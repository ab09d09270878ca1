import { type CacheInvalidator, createCachedReader } from '../../../platform/cached.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { listAutomaticPromotions, listPromotionsByCodes } from '../promotions/repository.ts'
import { AUTOMATIC_PROMOTIONS_MAX } from '../promotions/schema.ts'
import { normalizePromotionCode } from '../quote/codes.ts'
import type { Promotion, QuoteBuyer, QuoteRules } from '../quote/input.ts'
import { QUOTE_SIZE_LIMITS } from '../quote/size-limits.ts'
import type { HasEarlierOrder } from '../redemptions/order-history.ts'
import { listRemainingAndCustomerPromotionUses } from '../redemptions/usage-limits-repository.ts'
import { listAllUnexpiredTaxExemptions } from '../taxes/exemption-repository.ts'
import { TAX_EXEMPTIONS_MAX } from '../taxes/exemption-schema.ts'
import { listUnexpiredTaxRates } from '../taxes/repository.ts'
import { TAX_RATES_MAX } from '../taxes/schema.ts'
import { groupTaxExemptionsByCustomer, promotionFromRow, taxZonesByCountry } from './mapping.ts'

/** The promotions, taxes and exemptions of a quote, without shipping rates, and the buyer's earlier uses. */
export type QuoteRulesAndBuyer = Omit<QuoteRules, 'ratesOf'> & { readonly buyer: Omit<QuoteBuyer, 'group'> }
/**
 * `customer`: the account, or a keyed hash of a guest; null: unknown. `mailbox`: the keyed hash of the
 * buyer's e-mail address, for which paid orders count; null: they are not looked up.
 */
type RulesQuery = {
  readonly codes: readonly string[]
  readonly customer: string | null
  readonly mailbox?: string | null
  /**
   * Whether the buyer's identity is proven. Otherwise automatic promotions that depend on earlier orders
   * are left out, because the price would reveal the orders of a typed e-mail address. Called only when
   * there are some; default: true.
   */
  readonly isProven?: () => Promise<boolean>
}
type Deps = {
  db: Queryable
  invalidation: CacheInvalidator
  exemptionChanges: CacheInvalidator
  hasOrdered: HasEarlierOrder
}

/**
 * Reads the rules of quotes. Automatic promotions, taxes and exemptions are cached. Codes and remaining
 * uses are read each time, so that a quoted discount can usually be redeemed.
 */
export function createQuoteRulesReader({ db, invalidation, exemptionChanges, hasOrdered }: Deps) {
  const readAutomatic = createCachedReader(invalidation, async () => {
    const rows = await db.rows(listAutomaticPromotions, { limit: AUTOMATIC_PROMOTIONS_MAX })
    return rows.map(promotionFromRow)
  })
  const readTaxZones = createCachedReader(invalidation, async () =>
    taxZonesByCountry(await db.rows(listUnexpiredTaxRates, { limit: TAX_RATES_MAX }))
  )
  const readExemptions = createCachedReader(exemptionChanges, async () =>
    groupTaxExemptionsByCustomer(await db.rows(listAllUnexpiredTaxExemptions, { limit: TAX_EXEMPTIONS_MAX }))
  )

  async function readAutomaticFor(isProven: () => Promise<boolean>): Promise<readonly Promotion[]> {
    const automatic = await readAutomatic()
    if (!automatic.some(dependsOnHistory) || (await isProven())) return automatic
    return automatic.filter(promotion => !dependsOnHistory(promotion))
  }

  /** Queries earlier orders only when a promotion requires a first order. */
  async function isFirstOrder(
    customer: string | null,
    mailbox: string | null,
    promotions: Iterable<Promotion>
  ): Promise<boolean> {
    const isAsked = [...promotions].some(({ firstOrderOnly }) => firstOrderOnly)
    return !isAsked || customer === null || !(await hasOrdered(db, customer, null, mailbox))
  }

  /** See `PricingApi.readRules`. */
  return async ({
    codes,
    customer,
    mailbox = null,
    isProven = async () => true
  }: RulesQuery): Promise<QuoteRulesAndBuyer> => {
    const [automatic, taxZones, exemptions] = await Promise.all([
      readAutomaticFor(isProven),
      readTaxZones(),
      // Guests have no exemptions.
      customer === null ? undefined : readExemptions()
    ])
    const limited = automatic.filter(isLimited).map(({ id }) => id)
    // Codes beyond the maximum of a quote are not read, because the quote rejects them.
    const wanted = [...new Set(codes.map(normalizePromotionCode))].slice(0, QUOTE_SIZE_LIMITS.codes)
    const [uses, coded] = await Promise.all([
      limited.length === 0
        ? []
        : db.rows(listRemainingAndCustomerPromotionUses, { ids: limited, customer, mailbox }),
      wanted.length === 0 ? [] : db.rows(listPromotionsByCodes, { codes: wanted, customer, mailbox })
    ])
    const leftOf = new Map(uses.map(row => [row.id, row.uses_left]))
    const promotions = new Map<string, Promotion>()
    for (const promotion of automatic)
      promotions.set(promotion.id, {
        ...promotion,
        usesLeft: leftOf.get(promotion.id) ?? promotion.usesLeft
      })
    for (const row of coded) promotions.set(row.id, promotionFromRow(row))
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
export type ReadQuoteRules = ReturnType<typeof createQuoteRulesReader>

const dependsOnHistory = ({ usesPerCustomer, firstOrderOnly }: Promotion) =>
  usesPerCustomer !== null || firstOrderOnly
const isLimited = (promotion: Promotion) => promotion.usesLeft !== null || dependsOnHistory(promotion)
