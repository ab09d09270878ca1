import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createDiscount, createProduct } from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { expectAgreement, type Markets, useMarkets } from '../../../../test/support/markets.ts'
import { settled } from '../../../../test/support/settled.ts'

/** Returns the same pseudo-random numbers in each run. */
function numbersFrom(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor(state / 65_536) % below
  }
}

test('after concurrent changes of prices and products by two processes, product lists and pages agree', async () => {
  const one = await useMarkets()
  const other = await useMarkets(one.databaseUrl)
  const base = await one.createList('USD')
  const wholesale = await one.createList('USD', { parent_id: base, adjustment_ppm: -100_000 })
  const pounds = await one.createList('GBP')
  const lists = [base, wholesale, pounds]
  await one.createMarket('wholesale', 'USD', wholesale)
  await one.createMarket('uk', 'GBP', pounds)
  const late = await one.createMarket('late', 'USD')
  const products: { id: string; variants: { id: string }[] }[] = []
  for (let each = 0; each < 6; each += 1) {
    const variants = [1, 2].map(at => ({ sku: `S-${each}-${at}`, price: 2_000 + 10 * each }))
    products.push(await createProduct(one, { name: `Mug ${each}`, variants }))
  }
  const variantIds = products.flatMap(({ variants }) => variants.map(({ id }) => id))

  const below = numbersFrom(7)
  const pick = <T>(all: readonly T[]) => all[below(all.length)] as T
  const change = (shop: Markets): Promise<unknown> => {
    const [list, variant, product, price] = [
      pick(lists),
      pick(variantIds),
      pick(products),
      100 + below(5_000)
    ]
    const changes = [
      () => shop.setPrices(list, { variant_id: variant, price }),
      () => shop.setPrices(list, ...variantIds.map(variant_id => ({ variant_id, price }))),
      () => shop.admin.delete(`/api/admin/price-lists/${list}/prices/${variant}`),
      () => shop.admin.patch(`/api/admin/price-lists/${wholesale}`, { adjustment_ppm: 1_000 * below(300) }),
      () => shop.admin.patch(`/api/catalog/variants/${variant}`, { price, active: below(4) > 0 }),
      () => shop.admin.patch(`/api/admin/markets/${late.id}`, { price_list_id: pick([null, base]) }),
      () =>
        createDiscount(shop, {
          scope: 'product',
          target_id: product.id,
          percentage_ppm: 1_000 * (1 + below(90))
        })
    ]
    return pick(changes)()
  }
  for (let round = 0; round < 12; round += 1)
    await Promise.all([one, other, one, other, one, other].map(change))
  await settled(one)

  const productIds = products.map(({ id }) => id)
  // The other process is notified a moment after the commit.
  for (const market of ['default', 'wholesale', 'uk', 'late'])
    for (const shop of [one, other]) await eventually(() => expectAgreement(shop, productIds, market))
  // The comparison is not trivial.
  expect(await one.listed('uk')).not.toEqual([])
})

test('the repricing job repairs wrong prices, and deletes those of price lists without a market', async () => {
  const shop = await useMarkets()
  const list = await shop.createList('GBP')
  const market = await shop.createMarket('uk', 'GBP', list)
  const { variants } = await createProduct(shop, { name: 'Mug', variants: [{ sku: 'MUG', price: 1_000 }] })
  await shop.setPrices(list, { variant_id: variants[0].id, price: 900 })
  await settled(shop)
  await shop.sql('update catalog.list_prices set lowest_price_minor = 1')
  await shop.sql('update catalog.revision set value = value + 1')
  const another = await useMarkets(shop.databaseUrl)
  expect(await another.listed('uk')).toEqual([['Mug', 1]])
  await shop.sql(
    "update cartwright.jobs set due_at = now() where handler = 'catalog.refresh_list_prices' and id = 0"
  )
  await settled(shop)
  await eventually(async () => expect(await another.listed('uk')).toEqual([['Mug', 900]]))
  await shop.admin.patch(`/api/admin/markets/${market.id}`, { price_list_id: null })
  await settled(shop)
  expect(await shop.sql('select from catalog.list_prices')).toEqual([])
})

test.each([
  ['prices of some variants', { prices: true }],
  ['all prices of a list', { prices: false }]
])(
  '%s are recalculated for a product that an open transaction changes, after it ends',
  async (_what, { prices }) => {
    const shop = await useMarkets()
    const parent = await shop.createList('USD')
    const list = await shop.createList('USD', { parent_id: parent })
    await shop.createMarket('us', 'USD', list)
    const variants = [
      { sku: 'LISTED', price: 2_000 },
      { sku: 'OWN', price: 1_500 }
    ]
    const product = await createProduct(shop, { name: 'Mug', variants })
    const variant_id = product.variants[0].id as string
    await shop.setPrices(parent, { variant_id, price: 1_000 })
    await settled(shop)

    const holder = new pg.Client({ connectionString: shop.databaseUrl })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('begin')
    await holder.query('select from catalog.products for update')
    await holder.query(`update catalog.variants set price_minor = 700 where sku = 'OWN'`)
    if (prices) await shop.setPrices(list, { variant_id, price: 900 })
    else await shop.admin.patch(`/api/admin/price-lists/${list}`, { adjustment_ppm: -100_000 })
    const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%catalog.products%for update%'`
    await eventually(async () => expect(await shop.sql(waiting)).toHaveLength(1))
    await holder.query('commit')
    await settled(shop)
    expect(await shop.sql('select lowest_price_minor::int from catalog.list_prices')).toEqual([
      { lowest_price_minor: 700 }
    ])
  }
)
