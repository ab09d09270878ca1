import { reaching } from '../../kernel/areas.ts'
import { newId } from '../../kernel/ids.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { reasonOf } from './dry-run/reasons.ts'
import { customerLimit, firstOrderTaken, marketUnknown, promotionGone, usedUp } from './errors.ts'
import type { Market, PricingApi } from './index.ts'
import { type PriceBreaks, priceAt } from './prices/breaks.ts'
import { normalizeCode } from './quote/codes.ts'
import type { Exemption, Promotion, TaxZone } from './quote/input.ts'
import type { Redemption } from './quote/promotions.ts'
import { quote } from './quote/quote.ts'
import { type HasOrdered, inTurn } from './redemptions/doors.ts'

export type FakePromotion = Partial<Omit<Promotion, 'id' | 'needsCode' | 'usesLeft'>> & {
  usesMax?: number
  /** It counts with this code only. */
  code?: string
  codeUsesMax?: number
}
/** Prices in memory that keep the contract of `PricingApi`, for tests of those who ask it. */
export type FakePricing = PricingApi & {
  /** Opens a market (anew, if it is there). There is one from the beginning, `default`, in dollars. */
  open(market: Partial<Market> & { code: string }): Market
  /** What one costs in a price list, from so many on. */
  setPrice(priceListId: string, variantId: string, priceMinor: number, fromQuantity?: number): void
  /** Takes a tenth off the order, unless told otherwise; answers the id of the promotion. */
  promote(promotion?: FakePromotion): string
  /** What of a tax category is paid in a country. */
  tax(country: string, ratePpm: number, category?: string): void
  /** This customer pays no tax, from now on and anywhere. */
  exempt(customer: string, reason: string): void
}
export function fakePricing(): FakePricing {
  const markets = new Map([['default', DEFAULT_MARKET]])
  const breaks = new Map<string, PriceBreaks>()
  const taxZones = new Map<string, TaxZone[]>()
  const exemptions = new Map<string, Exemption[]>()
  const promotions = new Map<string, Kept>()
  const codes = new Map<string, KeptCode>()
  const books = openBooks(promotions, codes)
  const pricesOf = (listId: string | null, wanted: Parameters<PricingApi['prices']>[0]) =>
    wanted.map(({ variantId, quantity }) => priceAt(breaks.get(`${listId} ${variantId}`) ?? [], quantity))

  return {
    markets: {
      resolve: async ({ name, country }) => {
        const all = [...markets.values()]
        if (name !== undefined && !markets.has(name))
          throw marketUnknown({ details: { known: all.map(({ code }) => code).sort() } })
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
    quote,
    rules: async ({ codes: asked, customer, mailbox = null }) => {
      const known = new Map(asked.map(normalizeCode).flatMap(books.codeNow))
      const ofCodes = new Set([...known.values()].map(({ promotionId }) => promotionId))
      const counting = [...promotions.values()].filter(({ id, needsCode }) => !needsCode || ofCodes.has(id))
      return {
        promotions: counting.map(books.promotionNow),
        codes: known,
        taxZones,
        buyer: {
          used: new Map(counting.map(({ id }) => [id, books.usedBy(customer, id, mailbox)])),
          exemptions: exemptions.get(customer ?? '') ?? [],
          isFirstOrder: !(
            counting.some(({ firstOrderOnly }) => firstOrderOnly) &&
            (await books.hasOrdered(customer, null, mailbox))
          )
        }
      }
    },
    explain: async (findings, given) =>
      findings
        .filter(finding => 'promotionCode' in finding)
        .map(finding => {
          const promotionId = given.rules.codes.get(finding.promotionCode)?.promotionId ?? null
          const promotion = given.rules.promotions.find(({ id }) => id === promotionId)
          return { finding, promotionId, reason: reasonOf(finding, promotion, undefined, given) }
        }),
    inTurn,
    redeem: books.redeem,
    countPaid: books.countPaid,
    release: books.release,
    askOrders: books.askOrders,
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
      if (needsCode) codes.set(normalizeCode(code), { promotionId: id, usesMax: codeUsesMax })
      return id
    },
    tax: (country, ppm, category = 'standard') => {
      const rate = { category, ppm, startsAt: null, endsAt: null }
      const [zone] = taxZones.get(country) ?? []
      const rates = [rate, ...(zone?.rates ?? []).filter(each => each.category !== category)]
      const area = { country, region: null, postalCode: null }
      taxZones.set(country, [{ id: country, area, reachFor: reaching(area), rates }])
    },
    exempt: (customer, reason) => {
      const always = { countries: null, startsAt: null, endsAt: null }
      exemptions.set(customer, [{ id: newId(), company: 'Acme', vatId: null, reason, ...always }])
    }
  }
}

type Kept = Omit<Promotion, 'usesLeft'> & { readonly usesMax: number | null }
type KeptCode = { readonly promotionId: string; readonly usesMax: number | null }
type Use = Redemption & {
  readonly owner: string
  readonly customer: string
  /** For which it counts; null: its order is not paid. */
  readonly mailbox: string | null
}

/** Whoever is asked by a fake has their orders elsewhere. */
const NO_DATABASE = {} as Queryable

/** Who uses what. */
function openBooks(promotions: ReadonlyMap<string, Kept>, codes: ReadonlyMap<string, KeptCode>) {
  let uses: Use[] = []
  let ordersKnow: HasOrdered = async () => false
  const countOf = (matches: (use: Use) => boolean) => uses.filter(matches).length
  const usedBy = (customer: string | null, id: string, mailbox: string | null) =>
    countOf(
      use =>
        use.promotionId === id && (use.customer === customer || (mailbox !== null && use.mailbox === mailbox))
    )
  const promotionNow = ({ usesMax, ...promotion }: Kept): Promotion => {
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
    if (promotion === undefined) throw promotionGone()
    const { usesPerCustomer, firstOrderOnly } = promotion
    if (usesPerCustomer !== null && usedBy(customer, promotionId, mailbox) >= usesPerCustomer)
      throw customerLimit()
    if (firstOrderOnly && (await hasOrdered(customer, owner, mailbox))) throw firstOrderTaken()
  }

  /** Whether there is an order that is not `owner`, or one that has what is for first orders alone. */
  const hasOrdered = async (customer: string | null, owner: string | null, mailbox: string | null) =>
    (customer !== null && (await ordersKnow(NO_DATABASE, customer, owner, mailbox))) ||
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
    tx.last(async () => {
      if (wanted.some(isUsedUp)) throw usedUp()
    })
    tx.afterCommit(() => uses.push(...wanted))
  }
  const countPaid: PricingApi['countPaid'] = async (tx, owner, mailbox) =>
    tx.afterCommit(() => {
      uses = uses.map(use => (use.owner === owner ? { ...use, mailbox } : use))
    })
  const release: PricingApi['release'] = async (tx, owner) =>
    tx.afterCommit(() => {
      uses = uses.filter(use => use.owner !== owner)
    })

  const askOrders: PricingApi['askOrders'] = wanted => {
    ordersKnow = wanted
  }

  return { promotionNow, codeNow, usedBy, hasOrdered, redeem, countPaid, release, askOrders }
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
