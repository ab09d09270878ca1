import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type pg from 'pg'
import { newId } from '../src/kernel/ids.ts'
import { type PricingApi, pricingModule } from '../src/modules/pricing/index.ts'

/** Each a market of its own, with a list that has two prices of every variant: carts have some lines at either. */
export const MARKETS = ['uk', 'ch', 'b2b'] as const

export async function openMarkets(client: pg.Client): Promise<void> {
  await client.query(
    `
    with wanted (code, currency) as (values ($1, 'GBP'), ($2, 'CHF'), ($3, 'USD')), lists as (
      insert into pricing.price_lists (id, name, currency, adjustment_ppm, depth)
      select gen_random_uuid(), code, currency, 0, 1 from wanted returning id, name, currency
    ), markets as (
      insert into pricing.markets (
        id, code, name, currency, prices_include_tax, tax_rounding, cash_rounding, locale, active, price_list_id)
      select gen_random_uuid(), name, name, currency, true, 'group', 1, 'en', true, id from lists
    )
    insert into pricing.prices (list_id, variant_id, from_quantity, price_minor)
    select lists.id, variants.id, quantity, variants.price_minor - 10 * quantity
    from lists cross join catalog.variants cross join (values (1), (2)) breaks (quantity)`,
    [...MARKETS]
  )
  await client.query('vacuum analyze')
}

/** Bytes that the process keeps of a variant and a list that has two prices of it, with so many of both. */
export async function bytesOfPrices(variants: number, lists: number): Promise<number> {
  const listIds = Array.from({ length: lists }, newId)
  const db = {
    // There is a default market.
    first: async () => ({ currency: 'USD' }),
    rows: async ({ name }: { name: string }, given: { list_ids: string[]; variant_ids: string[] }) =>
      name === 'pricing.list_parents'
        ? listIds.map(id => ({ id, parent_id: null, adjustment_ppm: 0 }))
        : given.list_ids.flatMap(list_id =>
            given.variant_ids.flatMap(variant_id =>
              [1, 2].map(from_quantity => ({ list_id, variant_id, from_quantity, price_minor: 1_990 }))
            )
          )
  }
  const platform = {
    config: { shop: { currency: 'USD', time_zone: 'UTC' } },
    broadcast: { subscribe: () => {}, isLive: () => true },
    db
  }
  const { api } = await pricingModule.setup(platform as never, undefined as never, { auth: undefined })
  const { prices } = api as PricingApi
  const variantIds = Array.from({ length: variants }, newId)
  const before = heapBytes()
  for (const priceListId of listIds)
    for (let at = 0; at < variants; at += 1_000) {
      const chunk = variantIds.slice(at, at + 1_000)
      await prices(
        chunk.map(variantId => ({ variantId, quantity: 1 })),
        { priceListId }
      )
    }
  const bytes = (heapBytes() - before) / (variants * lists)
  // Still there, or there would be nothing to measure.
  await prices([], { priceListId: null })
  return bytes
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
