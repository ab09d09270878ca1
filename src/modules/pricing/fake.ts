import { createAreaMatcher } from '../../kernel/areas.ts'
import { newId } from '../../kernel/ids.ts'
import type { PortReader } from '../../kernel/ports.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { explainPromotionCodeFinding } from './dry-run/explain-finding.ts'
import {
  customerUsageLimitReachedError,
  firstOrderAlreadyPlacedError,
  marketUnknownError,
  promotionDeletedError,
  promotionUsedUpError
} from './errors.ts'
import type { Market, PricingApi } from './index.ts'
import { type PriceBreaks, unitPriceAtQuantity } from './prices/breaks.ts'
import { normalizePromotionCode } from './quote/codes.ts'
import type { Promotion, QuoteTaxExemption, TaxZone } from './quote/input.ts'
import type { PromotionRedemption } from './quote/promotions.ts'
import { computeQuote } from './quote/quote.ts'
import { type HasEarlierOrder, orderHistoryPort } from './redemptions/order-history.ts'
import { createRedemptionTransactionRunner } from './redemptions/redeem.ts'

export type FakePromotion = Partial<Omit<Promotion, 'id' | 'needsCode' | 'usesLeft'>> & {
  usesMax?: number
  /** The code without which the promotion does not apply. */
  code?: string
  codeUsesMax?: number
}
/** In-memory pricing that fulfils the contract of `PricingApi`, for tests of modules that use it. */
export type FakePricing = PricingApi & {
  /** Sets the ports of pricing, from which the fake reads who has ordered before. */
  setPorts(ports: PortReader): void
  /** Creates or replaces a market. The market `default`, in dollars, exists from the start. */
  open(market: Partial<Market> & { code: string }): Market
  /** Sets the unit price in a price list from a quantity on. */
  setPrice(priceListId: string, variantId: string, priceMinor: number, fromQuantity?: number): void
  /** Creates a promotion: 10% off the order by default. Returns its id. */
  promote(promotion?: FakePromotion): string
  /** Sets the tax rate of a category in a country. */
  tax(country: string, ratePpm: number, category?: string): void
  /** Exempts this customer from tax everywhere. */
  exempt(customer: string, reason: string): void
}
/**
 * Creates pricing in memory, with the market `default` in dollars.
 * @example
 * const pricing = fakePricing()
 * pricing.open({ code: 'nordics', currency: 'SEK' })
 * assert.equal((await pricing.markets.resolve({ name: 'nordics' })).currency, 'SEK')
 */
export function fakePricing(): FakePricing {
  const markets = new Map([['default', DEFAULT_MARKET]])
  const breaks = new Map<string, PriceBreaks>()
  const taxZones = new Map<string, TaxZone[]>()
  const exemptions = new Map<string, QuoteTaxExemption[]>()
  const promotions = new Map<string, FakePromotionRow>()
  const codes = new Map<string, FakeCodeRow>()
  const usage = createUses(promotions, codes)
  const pricesOf = (listId: string | null, wanted: Parameters<PricingApi['prices']>[0]) =>
    wanted.map(({ variantId, quantity }) =>
      unitPriceAtQuantity(breaks.get(`${listId} ${variantId}`) ?? [], quantity)
    )

  return {
    markets: {
      isCurrent: market => markets.get(market.code) === market,
      resolve: async ({ name, country }) => {
        const all = [...markets.values()]
        if (name !== undefined && !markets.has(name))
          throw marketUnknownError({ details: { known: all.map(({ code }) => code).sort() } })
        const there = all.find(({ countries }) => country !== undefined && countries.includes(country))
        return (name === undefined ? there : markets.get(name)) ?? markets.get('default') ?? DEFAULT_MARKET
      },
      list: async () => [...markets.values()].sort((a, b) => (a.code < b.code ? -1 : 1))
    },
    prices: async (wanted, { priceListId }) => pricesOf(priceListId, wanted),
    marketLists: async () =>
      [...markets.values()].flatMap(({ priceListId: id, currency }) =>
        id === null ? [] : [{ id, currency, chain: [{ id, adjustmentPpm: 0 }] }]
      ),
    pricesIn: async (_db, lists, wanted) => lists.map(({ id }) => pricesOf(id, wanted)),
    quote: computeQuote,
    quoteByTaxEngine: () => undefined,
    readRules: async ({ codes: asked, customer, mailbox = null }) => {
      const known = new Map(asked.map(normalizePromotionCode).flatMap(usage.codeNow))
      const ofCodes = new Set([...known.values()].map(({ promotionId }) => promotionId))
      const counting = [...promotions.values()].filter(({ id, needsCode }) => !needsCode || ofCodes.has(id))
      return {
        promotions: counting.map(usage.promotionNow),
        codes: known,
        taxZones,
        buyer: {
          used: new Map(counting.map(({ id }) => [id, usage.usedBy(customer, id, mailbox)])),
          exemptions: exemptions.get(customer ?? '') ?? [],
          isFirstOrder: !(
            counting.some(({ firstOrderOnly }) => firstOrderOnly) &&
            (await usage.hasOrdered(customer, null, mailbox))
          )
        }
      }
    },
    explainFindings: async (findings, given) =>
      findings
        .filter(finding => 'promotionCode' in finding)
        .map(finding => {
          const promotionId = given.rules.codes.get(finding.promotionCode)?.promotionId ?? null
          const promotion = given.rules.promotions.find(({ id }) => id === promotionId)
          return {
            finding,
            promotionId,
            reason: explainPromotionCodeFinding(finding, promotion, undefined, given)
          }
        }),
    serializedBy: createRedemptionTransactionRunner,
    redeem: usage.redeem,
    countPaidRedemptions: usage.countPaidRedemptions,
    release: usage.release,
    setPorts: usage.setPorts,
    priceLists: WITHOUT_METADATA,
    promotions: WITHOUT_METADATA,
    open: market => {
      const opened = { ...DEFAULT_MARKET, ...market }
      markets.set(opened.code, opened)
      return opened
    },
    setPrice: (priceListId, variantId, priceMinor, fromQuantity = 1) => {
      const key = `${priceListId} ${variantId}`
      const others = (breaks.get(key) ?? []).filter(each => each.fromQuantity !== fromQuantity)
      const all = [...others, { fromQuantity, priceMinor }]
      breaks.set(
        key,
        all.sort((a, b) => a.fromQuantity - b.fromQuantity)
      )
    },
    promote: ({ code, codeUsesMax = null, usesMax = null, ...promotion } = {}) => {
      const id = newId()
      const needsCode = code !== undefined
      promotions.set(id, { ...DEFAULT_PROMOTION, ...promotion, id, needsCode, usesMax })
      if (needsCode) codes.set(normalizePromotionCode(code), { promotionId: id, usesMax: codeUsesMax })
      return id
    },
    tax: (country, ppm, category = 'standard') => {
      const rate = { category, ppm, startsAt: null, endsAt: null }
      const [zone] = taxZones.get(country) ?? []
      const rates = [rate, ...(zone?.rates ?? []).filter(each => each.category !== category)]
      const area = { country, region: null, postalCode: null }
      taxZones.set(country, [{ id: country, area, reachFor: createAreaMatcher(area), rates }])
    },
    exempt: (customer, reason) => {
      const always = { countries: null, startsAt: null, endsAt: null }
      exemptions.set(customer, [{ id: newId(), company: 'Acme', vatId: null, reason, ...always }])
    }
  }
}

type FakePromotionRow = Omit<Promotion, 'usesLeft'> & { readonly usesMax: number | null }
type FakeCodeRow = { readonly promotionId: string; readonly usesMax: number | null }
type Use = PromotionRedemption & {
  readonly owner: string
  readonly customer: string
  /** The mailbox for which the redemption counts. Null: the order is unpaid. */
  readonly mailbox: string | null
}

/** The fake has no database, so the registered order history must not use the transaction. */
const NO_DATABASE = {} as Queryable

/** Tracks uses of promotions. */
function createUses(
  promotions: ReadonlyMap<string, FakePromotionRow>,
  codes: ReadonlyMap<string, FakeCodeRow>
) {
  let uses: Use[] = []
  let hasOrderedBefore: () => HasEarlierOrder | undefined = () => undefined
  const countOf = (matches: (use: Use) => boolean) => uses.filter(matches).length
  const usedBy = (customer: string | null, id: string, mailbox: string | null) =>
    countOf(
      use =>
        use.promotionId === id && (use.customer === customer || (mailbox !== null && use.mailbox === mailbox))
    )
  const promotionNow = ({ usesMax, ...promotion }: FakePromotionRow): Promotion => {
    const used = countOf(use => use.promotionId === promotion.id)
    return { ...promotion, usesLeft: usesMax === null ? null : usesMax - used }
  }
  const codeNow = (code: string) => {
    const known = codes.get(code)
    if (known === undefined) return []
    const { promotionId, usesMax } = known
    const usesLeft = usesMax === null ? null : usesMax - countOf(use => use.code === code)
    return [[code, { promotionId, usesLeft }]] as const
  }

  async function check({ promotionId, owner, customer }: Use, mailbox: string | null): Promise<void> {
    const promotion = promotions.get(promotionId)
    if (promotion === undefined) throw promotionDeletedError()
    const { usesPerCustomer, firstOrderOnly } = promotion
    if (usesPerCustomer !== null && usedBy(customer, promotionId, mailbox) >= usesPerCustomer)
      throw customerUsageLimitReachedError()
    if (firstOrderOnly && (await hasOrdered(customer, owner, mailbox))) throw firstOrderAlreadyPlacedError()
  }

  /** Returns whether the customer has an order other than `owner`, or redeemed a first-order promotion. */
  const hasOrdered = async (customer: string | null, owner: string | null, mailbox: string | null) =>
    (customer !== null && ((await hasOrderedBefore()?.(NO_DATABASE, customer, owner, mailbox)) ?? false)) ||
    uses.some(
      use =>
        use.customer === customer &&
        use.owner !== owner &&
        (promotions.get(use.promotionId)?.firstOrderOnly ?? false)
    )

  function isUsedUp({ promotionId, code = '' }: Use): boolean {
    const promotion = promotions.get(promotionId)
    const limits = [...(promotion ? [promotionNow(promotion)] : []), ...codeNow(code).map(([, now]) => now)]
    return limits.some(({ usesLeft }) => usesLeft === 0)
  }

  const redeem: PricingApi['redeem'] = async (tx, owner, customer, mailbox = null) => {
    const wanted = tx.redemptions
      .map((redemption): Use => ({ ...redemption, owner, customer, mailbox: null }))
      .filter(
        ({ promotionId }) => countOf(use => use.owner === owner && use.promotionId === promotionId) === 0
      )
    for (const use of wanted) await check(use, mailbox)
    tx.beforeCommit(async () => {
      if (wanted.some(isUsedUp)) throw promotionUsedUpError()
    })
    tx.afterCommit(() => uses.push(...wanted))
  }
  const countPaidRedemptions: PricingApi['countPaidRedemptions'] = async (tx, owner, mailbox) =>
    tx.afterCommit(() => {
      uses = uses.map(use => (use.owner === owner ? { ...use, mailbox } : use))
    })
  const release: PricingApi['release'] = async (tx, owner) =>
    tx.afterCommit(() => {
      uses = uses.filter(use => use.owner !== owner)
    })

  const setPorts: FakePricing['setPorts'] = ports => {
    hasOrderedBefore = () => ports.only(orderHistoryPort)
  }

  return { promotionNow, codeNow, usedBy, hasOrdered, redeem, countPaidRedemptions, release, setPorts }
}

const WITHOUT_METADATA = {
  updateMetadata: () => Promise.reject(new Error('a pricing in memory has no metadata'))
}
const DEFAULT_MARKET: Market = {
  code: 'default',
  currency: 'USD',
  countries: [],
  pricesIncludeTax: false,
  taxRounding: 'group',
  cashRoundingMinor: 1,
  locale: 'en',
  priceListId: null,
  exclusive: true
}
const DEFAULT_PROMOTION = {
  name: 'A tenth off',
  class: 'order',
  priority: 0,
  startsAt: null,
  endsAt: null,
  markets: null,
  minimumMinor: null,
  minimumQuantity: 0,
  productIds: null,
  categoryIds: null,
  shippingMethodIds: null,
  cheapestOnly: false,
  firstOrderOnly: false,
  group: null,
  effect: { type: 'percentage', ppm: 100_000 },
  combines: ['line', 'order', 'shipping'],
  usesPerCustomer: null
} as const
