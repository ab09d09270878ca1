import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { buyerOf } from '../placing/buyers.ts'
import { addressOf, type CheckoutInput, emailOf } from './input.ts'
import type { UnsoldLine } from './lines.ts'
import { type Priced, price } from './price.ts'

type PricerDeps = {
  secrets: Pick<Secrets, 'mac'>
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
export function createPricer({
  secrets,
  catalog,
  pricing,
  inventory,
  shipping,
  lineQuantityMax
}: PricerDeps) {
  /**
   * What this costs now. `customerId`: null is a guest. `isCounted`: it is also said of what there is not enough, on which no
   * price depends. @throws `PRICING_QUOTE_TOO_LARGE`
   */
  return async (
    db: Queryable,
    customerId: string | null,
    input: CheckoutInput,
    { isCounted = true }: { isCounted?: boolean } = {}
  ): Promise<Priced> => {
    const { lines, codes } = input
    const market = await marketOf(input)
    const [variants, stock, ratesOf, regions, rules] = await Promise.all([
      catalog.quote(db, lines, market),
      isCounted ? inventory?.available(lines.map(({ variantId }) => variantId)) : undefined,
      shipping?.rates(),
      shipping?.regions(),
      pricing.rules({ codes, customer: buyerOf(secrets, customerId, emailOf(input)) })
    ])
    const given = { market, variants, stock, lineQuantityMax, ratesOf, regions, rules, now: Date.now() }
    const priced = price(input, given, pricing.quote)
    return { ...priced, unsold: await named(priced.unsold) }
  }

  /** The one that was named, as long as it is there; else that of the destination, else the default one. */
  async function marketOf(input: CheckoutInput) {
    const all = await pricing.markets.list()
    const named = all.find(({ code }) => code === input.market)
    return named ?? pricing.markets.resolve({ country: addressOf(input)?.country })
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
