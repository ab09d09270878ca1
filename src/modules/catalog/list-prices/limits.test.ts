import { expect, test, vi } from 'vitest'
import { createProduct } from '../../../../test/support/catalog.ts'
import { useMarkets } from '../../../../test/support/markets.ts'
import { settled } from '../../../../test/support/settled.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { MarketPriceList } from '../../pricing/index.ts'
import { repriceChangedPriceLists } from '../revision/list-price-subscriber.ts'
import { refreshLowestListPricesJob } from './jobs.ts'
import { createProductPricesInPriceLists } from './service.ts'

const lists = (count: number): MarketPriceList[] =>
  Array.from({ length: count }, newId).map(id => ({ id, currency: 'EUR', chain: [{ id, adjustmentPpm: 0 }] }))

/** A fake transaction that returns products and their variants. */
function openTransaction() {
  const sent: string[] = []
  const tx = {
    rows: async ({ name }: { name: string }) => {
      sent.push(name)
      return name === 'catalog.lock_products_of_variants' ? [{ id: 'product' }] : []
    },
    first: async ({ name }: { name: string }) => {
      sent.push(name)
      return { changed: 0 }
    }
  }
  return { tx: tx as unknown as Transaction, sent }
}

test.each([
  [10_000, 0],
  [10_001, 1]
])(
  'with %i price lists, a change of a product enqueues %i jobs, so that no request waits for long work',
  async (count, jobs) => {
    const enqueue = vi.fn()
    const pricing = { marketLists: async () => lists(count), pricesIn: async () => [] }
    const { tx, sent } = openTransaction()
    await createProductPricesInPriceLists({ pricing, enqueue, currency: 'USD' }).reprice(tx, ['product'])
    expect(enqueue).toHaveBeenCalledTimes(jobs)
    expect(sent).toHaveLength(jobs === 0 ? 2 : 0)
  }
)

test.each([
  [2, 2, 0],
  [3, 0, 3]
])(
  'of %i price lists with 1,000 changed prices, %i are repriced immediately and %i by jobs',
  async (count, atOnce, later) => {
    const all = lists(count)
    const enqueue = vi.fn()
    const reprice = vi.fn(async () => 0)
    const changes = { announcePages: vi.fn() }
    const variant_ids = Array.from({ length: 1_000 }, newId)
    const events = all.map(({ id }) => ({
      id: newId(),
      subject: id,
      since: new Date(0),
      logId: null,
      payload: { list_id: id, variant_ids }
    }))
    const deps = { pricing: { marketLists: async () => all }, listPrices: { reprice }, changes, enqueue }
    const { tx } = openTransaction()
    await repriceChangedPriceLists(tx, events, deps)
    expect(reprice).toHaveBeenCalledTimes(atOnce)
    expect(enqueue.mock.calls.map(call => call.slice(1))).toEqual(
      all.slice(0, later).map(({ id }) => [refreshLowestListPricesJob, { list_id: id }, { subject: id }])
    )
    expect(changes.announcePages).toHaveBeenCalledTimes(1)
  }
)

test('all products are repriced with the maximum number of price lists', async () => {
  const shop = await useMarkets()
  await shop.sql(`
    with lists as (
      insert into pricing.price_lists (id, name, currency, adjustment_ppm, depth)
      select gen_random_uuid(), 'L' || i, 'USD', 0, 1 from generate_series(1, 249) i returning id, name
    )
    insert into pricing.markets (
      id, code, name, currency, prices_include_tax, tax_rounding, cash_rounding, locale, active, price_list_id)
    select gen_random_uuid(), lower(name), name, 'USD', true, 'group', 1, 'en', true, id from lists`)
  for (const name of ['Mug', 'Cup', 'Jug'])
    for (let each = 0; each < 15; each += 1)
      await createProduct(shop, { name, variants: [{ sku: `${name}-${each}`, price: 900 }] })
  await shop.sql('delete from catalog.list_prices')
  await shop.sql(
    "update cartwright.jobs set due_at = now() where handler = 'catalog.refresh_list_prices' and id = 0"
  )
  await settled(shop)
  expect(await shop.sql('select count(*)::int as rows from catalog.list_prices')).toEqual([
    { rows: 249 * 45 }
  ])
})
