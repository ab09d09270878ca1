import type { Queryable } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market, PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import type { Buyer } from '../placing/buyers.ts'
import { addressOf, type CheckoutInput } from './input.ts'
import type { UnsoldLine } from './lines.ts'
import { type MarketProblem, type Priced, price } from './price.ts'

type PricerDeps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  catalog: Pick<CatalogApi, 'quote' | 'names'>
  pricing: Pick<PricingApi, 'markets' | 'rules' | 'quote'>
  /** Absent: nobody counts. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  /** The largest quantity of a line of any variant. */
  lineQuantityMax: number
  /** Absent: nobody knows what delivery costs. */
  shipping: Pick<ShippingApi, 'rates' | 'regions'> | undefined
}

/** Asks the other modules for all that a price depends on. */
export function createPricer(deps: PricerDeps) {
  const { auth, catalog, pricing, inventory, shipping, lineQuantityMax } = deps

  /**
   * What this costs now. `customerId`: null is a guest. `isCounted`: it is also said of what there is not enough, on which no
   * price depends. `buyer`: whose earlier orders promotions depend on; an account alone when left out, because an e-mail address
   * that was typed must not reveal what it has bought. `isTrusted`: an administrator asks, who may know it. @throws `PRICING_QUOTE_TOO_LARGE`
   */
  return async (
    db: Queryable,
    customerId: string | null,
    input: CheckoutInput,
    {
      isCounted = true,
      buyer = { customer: customerId, mailbox: null },
      isTrusted = false
    }: { isCounted?: boolean; buyer?: Pick<Buyer, 'customer' | 'mailbox'>; isTrusted?: boolean } = {}
  ): Promise<Priced> => {
    const { lines, codes } = input
    const { market, marketProblem } = await marketOf(input)
    const [variants, stock, ratesOf, regions, rules] = await Promise.all([
      catalog.quote(db, lines, market),
      isCounted ? inventory?.available(lines.map(({ variantId }) => variantId)) : undefined,
      shipping?.rates(),
      shipping?.regions(),
      pricing.rules({
        ...{ codes, customer: buyer.customer, mailbox: buyer.mailbox },
        isProven: async () => isTrusted || isVerified(customerId)
      })
    ])
    const given = {
      market,
      marketProblem,
      variants,
      stock,
      lineQuantityMax,
      ratesOf,
      regions,
      rules,
      now: Date.now()
    }
    const priced = price(input, given, pricing.quote)
    return { ...priced, unsold: await named(priced.unsold) }
  }

  /** Whether the buyer is signed in, and has verified the e-mail address of the account. */
  async function isVerified(customerId: string | null): Promise<boolean> {
    if (customerId === null || auth === undefined) return false
    const [contact] = await auth.contacts([customerId])
    return contact?.emailVerified ?? false
  }

  /**
   * The named market, unless it is gone or the market of the destination is exclusive; else that of the destination, else the
   * default one.
   */
  async function marketOf(input: CheckoutInput): Promise<{ market: Market; marketProblem?: MarketProblem }> {
    const country = addressOf(input)?.country
    const [all, ofDestination] = await Promise.all([
      pricing.markets.list(),
      pricing.markets.resolve({ country })
    ])
    if (input.market === null) return { market: ofDestination }
    const named = all.find(({ code }) => code === input.market)
    if (named === undefined) return { market: ofDestination, marketProblem: 'MARKET_GONE' }
    const isElsewhere = country !== undefined && named.code !== ofDestination.code && ofDestination.exclusive
    return isElsewhere ? { market: ofDestination, marketProblem: 'MARKET_DESTINATION' } : { market: named }
  }

  /** One statement more, and only for variants that are gone. */
  async function named(lines: readonly UnsoldLine[]): Promise<readonly UnsoldLine[]> {
    const gone = lines.filter(({ name }) => name === null).map(({ variantId }) => variantId)
    if (gone.length === 0) return lines
    const names = await catalog.names(gone)
    return lines.map(line => ({ ...line, name: line.name ?? names[gone.indexOf(line.variantId)] ?? null }))
  }
}
export type PriceNow = ReturnType<typeof createPricer>
