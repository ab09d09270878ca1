import pg from 'pg'
import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { toMatchableDestination } from '../../../kernel/areas.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const PROMOTIONS = '/api/admin/promotions'
const TENTH = { name: 'A tenth off', class: 'line', effect: { type: 'percentage', percentage_ppm: 100_000 } }
const anonymous = { codes: [], customer: null }

const useEmptyPricing = () => usePricing({ without: ['promotions', 'taxes/rates', 'taxes/zones'] })
type Shop = Awaited<ReturnType<typeof usePricing>>
const namesOf = async ({ pricing }: Pick<Shop, 'pricing'>, codes: string[] = []) =>
  (await pricing.readRules({ codes, customer: null })).promotions.map(({ name }) => name).sort()
const promote = async ({ admin }: Pick<Shop, 'admin'>, fields: object) =>
  (await admin.post(PROMOTIONS, { ...TENTH, ...fields })).json.id as string

test('quote rules contain automatic promotions and those of the given codes', async () => {
  const shop = await useEmptyPricing()
  const { admin, pricing } = shop
  const productId = newId()
  const id = await promote(shop, {
    name: 'Given',
    class: 'order',
    priority: 3,
    minimum: { CHF: 1_000 },
    minimum_quantity: 2,
    product_ids: [productId],
    first_order_only: true,
    markets: ['default'],
    effect: { type: 'amount', amounts: { CHF: 200 } },
    combines: ['line'],
    starts_at: '2026-01-01',
    uses_per_customer: 2,
    uses_max: 9
  })
  await promote(shop, { name: 'Ended', ends_at: '2020-01-01' })
  await promote(shop, { name: 'Off', active: false })
  const coded = await promote(shop, { name: 'Coded', needs_code: true, ends_at: '2020-01-01' })
  await admin.post(`${PROMOTIONS}/${coded}/codes`, { code: 'old', uses_max: 4 })
  const { json: stopped } = await admin.post(`${PROMOTIONS}/${coded}/codes`, { code: 'stopped' })
  await admin.patch(`${PROMOTIONS}/${coded}/codes/${stopped.id}`, { active: false })

  const { promotions, codes, buyer } = await pricing.readRules({
    codes: [' Old', 'stopped', 'none'],
    customer: null
  })
  expect(promotions).toContainEqual({
    id,
    name: 'Given',
    class: 'order',
    priority: 3,
    minimumMinor: { CHF: 1_000 },
    minimumQuantity: 2,
    startsAt: Date.UTC(2026, 0),
    endsAt: null,
    markets: ['default'],
    needsCode: false,
    group: null,
    shippingMethodIds: null,
    cheapestOnly: false,
    productIds: new Set([productId]),
    categoryIds: null,
    firstOrderOnly: true,
    combines: ['line'],
    effect: { type: 'amount', minor: { CHF: 200 } },
    usesLeft: 9,
    usesPerCustomer: 2
  })
  // One that has ended is there for who asks by code: they are told that it has.
  expect(promotions.map(({ name }) => name).sort()).toEqual(['Coded', 'Given'])
  expect([...codes]).toEqual([['OLD', { promotionId: coded, usesLeft: 4 }]])
  expect([buyer.used.get(id), buyer.used.get(coded)]).toEqual([0, 0])
})

test("remaining uses of promotions and the customer's uses in quote rules are current", async () => {
  const shop = await useEmptyPricing()
  const { db, pricing, redeem } = shop
  const id = await promote(shop, { uses_max: 3, uses_per_customer: 2 })
  const ada = newId()
  const look = async (customer: string | null) => {
    const { promotions, buyer } = await pricing.readRules({ codes: [], customer })
    return [promotions[0]?.usesLeft, buyer.used.get(id)]
  }
  expect(await look(ada)).toEqual([3, 0])
  const owner = newId()
  await redeem(owner, [{ promotionId: id }], ada)
  expect([await look(ada), await look(newId()), await look(null)]).toEqual([
    [2, 1],
    [2, 0],
    [2, 0]
  ])
  await db.transaction(tx => pricing.release(tx, owner))
  expect(await look(ada)).toEqual([3, 0])
})

test('tax rates in quote rules are grouped by country, without ended ones', async () => {
  const { admin, pricing } = await useEmptyPricing()
  const zone = async (fields: object) =>
    (await admin.post('/api/admin/taxes/zones', { name: 'Z', ...fields })).json.id
  const [germany, munich] = [
    await zone({ country: 'DE' }),
    await zone({ country: 'DE', postal_pattern: '80*' })
  ]
  const rate = (zone_id: string, fields: object) =>
    admin.post('/api/admin/taxes/rates', {
      zone_id,
      category: 'standard',
      name: 'VAT',
      rate_ppm: 160_000,
      ...fields
    })
  await rate(germany, { ends_at: '2020-12-31' })
  await rate(germany, { starts_at: '2021-01-01', rate_ppm: 190_000 })
  await rate(munich, {})
  const { taxZones } = await pricing.readRules(anonymous)
  expect([...taxZones.keys()]).toEqual(['DE'])
  expect(taxZones.get('DE')?.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    {
      id: germany,
      reachFor: expect.any(Function),
      area: expect.objectContaining({ country: 'DE' }),
      rates: [{ category: 'standard', ppm: 190_000, startsAt: Date.UTC(2021, 0), endsAt: null }]
    },
    {
      id: munich,
      reachFor: expect.any(Function),
      area: expect.objectContaining({ postalCode: '80*' }),
      rates: [{ category: 'standard', ppm: 160_000, startsAt: null, endsAt: null }]
    }
  ])
  const around = (postalCode: string) =>
    taxZones
      .get('DE')
      ?.filter(
        ({ reachFor }) => reachFor(toMatchableDestination({ country: 'DE', postalCode })) !== undefined
      )
      .map(({ id }) => id)
      .sort()
  expect([around('80331'), around('10115')]).toEqual([[germany, munich].sort(), [germany]])
})

test('reading quote rules takes no statement without usage limits and codes, and one more for each of these', async () => {
  const shop = await useEmptyPricing()
  await promote(shop, {})
  const statementsOf = async (codes: string[]) =>
    (await shop.record(() => shop.pricing.readRules({ codes, customer: null }))).statements
  // The broadcast of the change above also returns to this process and may clear its cache again.
  await expect.poll(() => statementsOf([]), { interval: 20 }).toEqual([])
  expect(await statementsOf(['a', 'A', 'b'])).toEqual(['pricing.list_promotions_by_code'])
  await promote(shop, { uses_max: 1 })
  await expect.poll(() => statementsOf([]), { interval: 20 }).toEqual(['pricing.list_uses'])
})

test('quote rules with tax exemptions are cached, for exempt customers too', async () => {
  const shop = await useEmptyPricing()
  const [ada, bob] = [newId(), newId()]
  const exemption = { customer_id: ada, company: 'Acme', vat_id: 'DE 136 695 976', reason: 'Reverse charge' }
  await shop.admin.post('/api/admin/taxes/exemptions', { ...exemption, countries: ['FR'] })
  await shop.admin.post('/api/admin/taxes/exemptions', { ...exemption, ends_at: '2020-12-31' })
  const exemptionsOf = async (customer: string | null) =>
    (await shop.pricing.readRules({ codes: [], customer })).buyer.exemptions
  expect(await exemptionsOf(ada)).toEqual([
    {
      id: expect.any(String),
      company: 'Acme',
      vatId: 'DE136695976',
      reason: 'Reverse charge',
      countries: ['FR'],
      startsAt: null,
      endsAt: null
    }
  ])
  const readAll = async () => {
    for (const customer of [ada, bob, 'keyed hash', null]) await exemptionsOf(customer)
  }
  const statementsOf = async () => (await shop.record(readAll)).statements
  await expect.poll(statementsOf, { interval: 20 }).toEqual([])
  for (const customer of [bob, 'keyed hash', null]) expect(await exemptionsOf(customer)).toEqual([])
})

test('first orders are read with the remaining uses of promotions, and only when a promotion needs them', async () => {
  const shop = await useEmptyPricing()
  const ada = newId()
  const look = async (codes: string[] = []) => {
    const { result, statements } = await shop.record(() => shop.pricing.readRules({ codes, customer: ada }))
    return [result.buyer.isFirstOrder, ...statements]
  }
  const coded = await promote(shop, { needs_code: true, first_order_only: true })
  await shop.admin.post(`${PROMOTIONS}/${coded}/codes`, { code: 'first' })
  await shop.redeem(newId(), [{ promotionId: coded }], ada)
  await expect.poll(() => look(), { interval: 20 }).toEqual([true])
  expect(await look(['first'])).toEqual([false, 'pricing.list_promotions_by_code'])
  await promote(shop, { first_order_only: true })
  await expect.poll(() => look(), { interval: 20 }).toEqual([false, 'pricing.list_uses'])
})

test('another process sees changed quote rules within a second, also after losing its LISTEN connection', async () => {
  needsOwnShop()
  const shop = await usePricing()
  const other = await usePricing({ databaseUrl: shop.databaseUrl })
  expect(await namesOf(other)).toEqual([])
  const ada = newId()
  const exemptionsOf = async () =>
    (await other.pricing.readRules({ codes: [], customer: ada })).buyer.exemptions
  expect(await exemptionsOf()).toEqual([])
  const exemption = { customer_id: ada, company: 'Acme', reason: 'Export' }
  await shop.admin.post('/api/admin/taxes/exemptions', exemption)
  await expect.poll(exemptionsOf, { interval: 20 }).toMatchObject([{ reason: 'Export' }])
  await promote(shop, { name: 'One' })
  await expect.poll(() => namesOf(other), { interval: 20 }).toEqual(['One'])

  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query in ('listen cartwright', 'select 1') and pid <> pg_backend_pid()`
  )
  await client.end()
  await promote(shop, { name: 'Two' })
  await expect.poll(() => namesOf(other), { interval: 20, timeout: 60_000 }).toEqual(['One', 'Two'])
})
