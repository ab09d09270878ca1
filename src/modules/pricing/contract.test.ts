import { describe, expect, test } from 'vitest'
import { moduleProviding, portsOf } from '../../../test/support/ports.ts'
import { usePricing } from '../../../test/support/pricing.ts'
import { openShared, shareShops } from '../../../test/support/shared-shops.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { newId } from '../../kernel/ids.ts'
import { provide } from '../../kernel/ports.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { type FakePricing, type FakePromotion, fakePricing } from './fake.ts'
import { orderHistoryPort, type PricingApi } from './index.ts'
import type { HasEarlierOrder } from './redemptions/order-history.ts'

shareShops()

type Subject = {
  pricing: PricingApi
  db: Database
  open(market: Parameters<FakePricing['open']>[0]): Promise<unknown>
  /** Answers the id of a list in euros. */
  setPrices(variantId: string, prices: readonly { quantity: number; price: number }[]): Promise<string>
  promote(promotion: FakePromotion): Promise<string>
  tax(country: string, ratePpm: number): Promise<unknown>
  exempt(customer: string, reason: string): Promise<unknown>
  setOrderHistory(hasOrdered: HasEarlierOrder): void
}

/** An order history that a test can replace, for one test, or shared. */
const useHistory = () =>
  openShared(['history'], async () => {
    const orders: { hasEarlier: HasEarlierOrder } = { hasEarlier: async () => false }
    const module = moduleProviding(
      provide(orderHistoryPort, 'test', (...buyer) => orders.hasEarlier(...buyer))
    )
    return { orders, module }
  })

async function useReal(): Promise<Subject> {
  const { orders, module } = await useHistory()
  orders.hasEarlier = async () => false
  const shop = await usePricing({
    currency: 'USD',
    modules: [module],
    without: ['promotions', 'markets', 'price-lists', 'taxes/rates', 'taxes/zones']
  })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await shop.admin.post(`/api/admin/${path}`, body)
    if (status !== 201) throw new Error(text)
    return json.id as string
  }
  return {
    pricing: shop.pricing,
    db: shop.db,
    open: ({ code, countries, currency, pricesIncludeTax = false, priceListId = null }) =>
      shop.createMarket({
        code,
        countries,
        currency,
        price_list_id: priceListId,
        prices_include_tax: pricesIncludeTax
      }),
    setPrices: async (variant_id, prices) => {
      const id = await made('price-lists', { name: 'List', currency: 'EUR' })
      const set = prices.map(({ quantity: from_quantity, price }) => ({ variant_id, from_quantity, price }))
      await shop.admin.put(`/api/admin/price-lists/${id}/prices`, { prices: set })
      return id
    },
    promote: async ({ code, codeUsesMax, usesMax, usesPerCustomer, firstOrderOnly }) => {
      const id = await made('promotions', {
        name: 'A tenth off',
        class: 'order',
        effect: { type: 'percentage', percentage_ppm: 100_000 },
        combines: ['line', 'order', 'shipping'],
        needs_code: code !== undefined,
        uses_max: usesMax ?? null,
        uses_per_customer: usesPerCustomer ?? null,
        first_order_only: firstOrderOnly ?? false
      })
      if (code !== undefined) await made(`promotions/${id}/codes`, { code, uses_max: codeUsesMax ?? null })
      return id
    },
    tax: async (country, rate_ppm) => {
      const zone_id = await made('taxes/zones', { name: country, country })
      return made('taxes/rates', { zone_id, category: 'standard', name: 'VAT', rate_ppm })
    },
    exempt: (customer_id, reason) => made('taxes/exemptions', { customer_id, company: 'Acme', reason }),
    setOrderHistory: hasOrdered => {
      orders.hasEarlier = hasOrdered
    }
  }
}

async function useFake(): Promise<Subject> {
  const pricing = fakePricing()
  return {
    pricing,
    db: transactionsInMemory,
    open: async market => pricing.open(market),
    setPrices: async (variantId, prices) => {
      const id = newId()
      for (const { quantity, price } of prices) pricing.setPrice(id, variantId, price, quantity)
      return id
    },
    promote: async promotion => pricing.promote(promotion),
    tax: async (country, ratePpm) => pricing.tax(country, ratePpm),
    exempt: async (customer, reason) => pricing.exempt(customer, reason),
    setOrderHistory: hasOrdered => pricing.setPorts(portsOf(provide(orderHistoryPort, 'test', hasOrdered)))
  }
}

/** What every module may rely on that asks what things cost: the fake is held to the same. */
describe.each([
  ['pricing', useReal],
  ['its fake', useFake]
])('%s', (_what, use) => {
  /** What ten dollars' worth costs, in the default market. */
  async function quoteIn(subject: Subject, codes: string[] = [], customer: string | null = null) {
    return subject.pricing.quote(await inputOf(subject, codes, customer))
  }
  async function inputOf({ pricing }: Subject, codes: string[], customer: string | null) {
    const [market, { buyer, ...rules }] = await Promise.all([
      pricing.markets.resolve({}),
      pricing.readRules({ codes, customer })
    ])
    return {
      market,
      codes,
      lines: [
        {
          key: 'mug',
          variantId: 'mug',
          productId: 'mug',
          categoryIds: [],
          quantity: 1,
          priceMinor: 1_000,
          discountedPriceMinor: 1_000,
          taxCategory: 'standard',
          requiresShipping: false,
          weightGrams: 0,
          group: 'all'
        }
      ],
      groups: [{ key: 'all', method: 'digital' as const, destination: { country: 'US' }, choice: null }],
      buyer: { ...buyer, group: null },
      rules: { ...rules, ratesOf: () => [] },
      now: Date.now()
    }
  }
  const redeem = (
    { pricing, db }: Subject,
    redemptions: Parameters<PricingApi['serializedBy']>[1],
    customer: string = newId(),
    owner = newId()
  ) =>
    pricing
      .serializedBy(db, redemptions)
      .transaction(tx => pricing.redeem(tx, owner, customer))
      .then(
        () => 'done',
        error => error.code
      )
  const release = ({ pricing, db }: Subject, owner: string) =>
    db.transaction(tx => pricing.release(tx, owner))

  test('pricing resolves a market by name, by country, or to the default', async () => {
    const { pricing, open } = await use()
    await open({ code: 'eu', currency: 'EUR', countries: ['DE', 'FR'], pricesIncludeTax: true })
    const { resolve } = pricing.markets
    expect(await resolve({})).toMatchObject({ code: 'default', currency: 'USD', pricesIncludeTax: false })
    expect(await resolve({ country: 'FR' })).toMatchObject({ code: 'eu', currency: 'EUR' })
    expect(await resolve({ country: 'JP' })).toMatchObject({ code: 'default' })
    expect(await resolve({ name: 'default', country: 'FR' })).toMatchObject({ code: 'default' })
    await expect(resolve({ name: 'mars' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'PRICING_MARKET_UNKNOWN',
      details: { known: ['default', 'eu'] }
    })
    expect((await pricing.markets.list()).map(({ code }) => code)).toEqual(['default', 'eu'])
  })

  test('pricing returns prices of a list by quantity, and undefined for a variant without one', async () => {
    const { pricing, setPrices } = await use()
    const [mug, other] = [newId(), newId()]
    const priceListId = await setPrices(mug, [
      { quantity: 2, price: 900 },
      { quantity: 10, price: 700 }
    ])
    const wanted = [
      { variantId: mug, quantity: 9 },
      { variantId: other, quantity: 9 },
      { variantId: mug, quantity: 10 },
      { variantId: mug, quantity: 1 }
    ]
    expect(await pricing.prices(wanted, { priceListId })).toEqual([900, undefined, 700, undefined])
    expect(await pricing.prices(wanted, { priceListId: null })).toEqual(wanted.map(() => undefined))
  })

  test('pricing reads the price lists of markets and their prices without caches', async () => {
    const { pricing, db, open, setPrices } = await use()
    const mug = newId()
    const prices = [{ quantity: 2, price: 900 }]
    const [inNoMarket, priceListId] = [await setPrices(mug, prices), await setPrices(mug, prices)]
    expect(await pricing.marketLists(db)).toEqual([])
    await open({ code: 'de', countries: ['DE'], currency: 'EUR', priceListId })
    const lists = await pricing.marketLists(db)
    expect(lists.map(({ id, currency }) => [id, currency])).toEqual([[priceListId, 'EUR']])
    expect(inNoMarket).not.toBe(priceListId)
    const wanted = [1, 2].map(quantity => ({ variantId: mug, quantity }))
    expect(await pricing.pricesIn(db, lists, wanted)).toEqual([[undefined, 900]])
    expect(await pricing.pricesIn(db, [], wanted)).toEqual([])
  })

  test('pricing quotes with automatic and code promotions, and with taxes', async () => {
    const subject = await use()
    const { promote, tax } = subject
    expect((await quoteIn(subject)).totals.totalMinor).toBe(1_000)
    const own = await promote({})
    const coded = await promote({ code: 'Tenth', codeUsesMax: 1 })
    await tax('US', 100_000)
    expect((await quoteIn(subject)).totals).toMatchObject({
      discountMinor: 100,
      taxMinor: 90,
      totalMinor: 990
    })
    const quoted = await quoteIn(subject, [' tenth', 'other'])
    expect(quoted.totals).toMatchObject({ discountMinor: 190, taxMinor: 81, totalMinor: 891 })
    expect(quoted.findings).toMatchObject([{ code: 'CODE_UNKNOWN', promotionCode: 'OTHER' }])
    const redemptions = [
      { promotionId: own },
      { promotionId: coded, code: 'TENTH', limited: 'code' }
    ] as const
    expect(quoted.redemptions).toEqual(
      redemptions.toSorted((a, b) => (a.promotionId < b.promotionId ? -1 : 1))
    )
    const owner = newId()
    expect(await redeem(subject, quoted.redemptions, newId(), owner)).toBe('done')
    expect((await quoteIn(subject, ['tenth'])).findings).toMatchObject([{ code: 'CODE_USED_UP' }])
    expect(await redeem(subject, quoted.redemptions)).toBe('PRICING_USED_UP')
    await release(subject, owner)
    expect((await quoteIn(subject, ['tenth'])).findings).toEqual([])
  })

  test('pricing charges a tax-exempt customer no tax', async () => {
    const subject = await use()
    await subject.tax('US', 100_000)
    const [ada, bob] = [newId(), newId()]
    await subject.exempt(ada, 'resale')
    const { totals, taxSummary } = await quoteIn(subject, [], ada)
    expect([totals.totalMinor, taxSummary[0]?.exempt?.reason]).toEqual([1_000, 'resale'])
    for (const customer of [bob, null])
      expect((await quoteIn(subject, [], customer)).totals.totalMinor).toBe(1_100)
  })

  test('pricing redeems a promotion up to the limit, once per owner, and releases it', async () => {
    const subject = await use()
    const promotion = { promotionId: await subject.promote({ usesMax: 2 }), limited: 'promotion' } as const
    const owner = newId()
    expect((await quoteIn(subject)).redemptions).toEqual([promotion])
    for (let time = 0; time < 2; time += 1)
      expect(await redeem(subject, [promotion], 'ada', owner)).toBe('done')
    expect(await redeem(subject, [promotion])).toBe('done')
    expect(await redeem(subject, [promotion])).toBe('PRICING_USED_UP')
    expect((await quoteIn(subject)).redemptions).toEqual([])
    for (let time = 0; time < 2; time += 1) await release(subject, owner)
    expect(await redeem(subject, [promotion])).toBe('done')
    expect(await redeem(subject, [promotion])).toBe('PRICING_USED_UP')
    expect(await redeem(subject, [{ promotionId: newId() }])).toBe('PRICING_PROMOTION_GONE')
  })

  test("pricing enforces a promotion's limit per customer, and one first order", async () => {
    const subject = await use()
    const [ada, bob] = [newId(), newId()]
    const once = [{ promotionId: await subject.promote({ usesPerCustomer: 1, code: 'ONCE' }) }]
    expect(await redeem(subject, once, ada)).toBe('done')
    expect(await redeem(subject, once, ada)).toBe('PRICING_CUSTOMER_LIMIT')
    expect((await quoteIn(subject, ['once'], ada)).findings).toMatchObject([{ code: 'CODE_CUSTOMER_LIMIT' }])
    expect((await quoteIn(subject, ['once'], bob)).findings).toEqual([])
    const ids = [
      await subject.promote({ firstOrderOnly: true }),
      await subject.promote({ firstOrderOnly: true })
    ]
    const first = ids.map(promotionId => ({ promotionId }))
    const owner = newId()
    const isFirst = async (customer: string | null) =>
      (await subject.pricing.readRules({ codes: [], customer })).buyer.isFirstOrder
    expect([await isFirst(ada), await isFirst(null)]).toEqual([true, true])
    expect(await redeem(subject, first, ada, owner)).toBe('done')
    expect([await isFirst(ada), await isFirst(bob), await isFirst(null)]).toEqual([false, true, true])
    expect(await redeem(subject, first.slice(1), ada)).toBe('PRICING_FIRST_ORDER_TAKEN')
    expect(await redeem(subject, first, bob)).toBe('done')
    await release(subject, owner)
    expect(await isFirst(ada)).toBe(true)
    expect(await redeem(subject, first, ada)).toBe('done')
  })

  test("pricing counts the promotion uses of a paid order for the buyer's mailbox, too", async () => {
    const subject = await use()
    const { pricing, db } = subject
    const once = [{ promotionId: await subject.promote({ usesPerCustomer: 1, code: 'ONCE' }) }]
    const [ada, guest, mailbox, owner] = [newId(), 'mailbox network', 'mailbox', newId()]
    const usesOf = async (customer: string) => {
      const { buyer } = await pricing.readRules({ codes: ['once'], customer, mailbox })
      return [...buyer.used.values()]
    }
    expect(await redeem(subject, once, guest, owner)).toBe('done')
    expect([await usesOf(guest), await usesOf(ada)]).toEqual([[1], [0]])
    for (let time = 0; time < 2; time += 1)
      await db.transaction(tx => pricing.countPaidRedemptions(tx, owner, mailbox))
    expect([await usesOf(guest), await usesOf(ada)]).toEqual([[1], [1]])
    const asAda = pricing.serializedBy(db, once).transaction(tx => pricing.redeem(tx, newId(), ada, mailbox))
    await expect(asAda).rejects.toMatchObject({ code: 'PRICING_CUSTOMER_LIMIT' })
    await release(subject, owner)
    expect([await usesOf(guest), await usesOf(ada)]).toEqual([[0], [0]])
  })

  test('pricing explains why a code has no effect, and names its promotion', async () => {
    const subject = await use()
    const ada = newId()
    const promotionId = await subject.promote({ usesPerCustomer: 1, code: 'ONCE' })
    expect(await redeem(subject, [{ promotionId }], ada)).toBe('done')
    const input = await inputOf(subject, ['once', 'none'], ada)
    const { findings } = subject.pricing.quote(input)
    const explained = await subject.pricing.explainFindings(findings, input)
    expect(explained.map(({ finding, ...why }) => [finding.promotionCode, why]).toSorted()).toEqual([
      ['NONE', { promotionId: null, reason: 'There is no such code.' }],
      ['ONCE', { promotionId, reason: 'This customer has used it 1 of 1 times (uses_per_customer).' }]
    ])
    expect(await subject.pricing.explainFindings([], input)).toEqual([])
  })

  test('pricing rejects a first-order promotion for a customer with an earlier order', async () => {
    const subject = await use()
    const [ada, bob, own, other] = [newId(), newId(), newId(), newId()]
    subject.setOrderHistory(async (_db, customer, but) => customer === ada && but !== own)
    const first = [{ promotionId: await subject.promote({ firstOrderOnly: true }) }]
    const isFirst = async (customer: string | null) =>
      (await subject.pricing.readRules({ codes: [], customer })).buyer.isFirstOrder
    expect([await isFirst(ada), await isFirst(bob), await isFirst(null)]).toEqual([false, true, true])
    expect(await redeem(subject, first, ada, other)).toBe('PRICING_FIRST_ORDER_TAKEN')
    expect(await redeem(subject, first, ada, own)).toBe('done')
    expect(await redeem(subject, first, bob, other)).toBe('done')
  })

  test('a failed transaction neither redeems nor releases promotions', async () => {
    const subject = await use()
    const { pricing, db } = subject
    const promotion = { promotionId: await subject.promote({ usesMax: 1 }), limited: 'promotion' } as const
    const kept = newId()
    const failing = pricing.serializedBy(db, [promotion]).transaction(async tx => {
      await pricing.redeem(tx, newId(), 'ada')
      throw new Error('the order was refused')
    })
    await expect(failing).rejects.toThrow('refused')
    expect(await redeem(subject, [promotion], 'ada', kept)).toBe('done')
    const failingRelease = db.transaction(async tx => {
      await pricing.release(tx, kept)
      throw new Error('the order stays')
    })
    await expect(failingRelease).rejects.toThrow('stays')
    expect(await redeem(subject, [promotion])).toBe('PRICING_USED_UP')
  })
})
