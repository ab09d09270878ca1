import { expect, test } from 'vitest'
import { ownNetworks } from '../../../../test/support/networks.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer, fakeAuth } from '../../../testing.ts'

shareShops()

const withAuth = () => ({ auth: fakeAuth() })

/** A shop with a code for 10 % off the first order of a mug that no other test orders. */
async function useWelcome(promotion: object = { first_order_only: true }) {
  const shop = await useOrders({
    settings: { CARTWRIGHT__SERVER__TRUST_PROXY: 'true' },
    instead: withAuth
  })
  const { auth } = shop.instead
  const addressOf = ownNetworks()
  const from = (network: string) => ({ 'x-forwarded-for': addressOf(network) })
  const tag = crypto.randomUUID().slice(0, 8)
  const code = `WELCOME-${tag.toUpperCase()}`
  const [mug] = await shop.sql('select product_id from catalog.variants where id = $1', [shop.mug])
  const { id } = await shop.made('promotions', {
    name: 'Welcome',
    class: 'order',
    effect: { type: 'percentage', percentage_ppm: 100_000 },
    needs_code: true,
    product_ids: [mug?.product_id],
    ...promotion
  })
  const needsCode = !('needs_code' in promotion) || promotion.needs_code
  if (needsCode) await shop.made(`promotions/${id}/codes`, { code })
  const order = { ...sent(shop.mug), payment: TRANSFER }
  const asked = { ...sent(shop.mug), codes: [code] }
  const welcomed = { ...order, ...asked }
  return {
    ...shop,
    promotionId: id,
    tag,
    code,
    order,
    asked,
    welcomed,
    /** A customer with this email address. */
    account: (email: string, emailVerified = false) => {
      const person = customer()
      auth.addContact({ id: person.id, email, emailVerified })
      return shop.as(person)
    },
    /** An address of this person that no other test uses. */
    emailOf: (name: string) => `${name}.${tag}@example.com`,
    from,
    /** Orders with the code as a guest of a network. */
    asGuest: (email: string, network: string, body: object = welcomed) =>
      shop.anonymous.post('/api/orders/guest', { ...body, email }, from(network))
  }
}
type Buyer = ReturnType<Awaited<ReturnType<typeof useWelcome>>['as']>

test('a customer who has ordered gets no first-order discount until that order is canceled', async () => {
  const { as, order, asked, welcomed } = await useWelcome()
  const buyer = as(customer())
  const findings = async () =>
    (await buyer.post('/api/checkouts', asked)).json.findings.map(({ code }: { code: string }) => code)
  expect(await findings()).toEqual([])
  const { json: plain } = await buyer.post('/api/orders', order)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
  expect((await buyer.post('/api/orders', welcomed)).json.code).toBe('ORDER_CODE_REFUSED')
  const { json: second } = await buyer.post('/api/orders', order)
  await buyer.post(`/api/orders/${plain.id}/cancel`)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
  await buyer.post(`/api/orders/${second.id}/cancel`)
  expect(await findings()).toEqual([])
  expect((await buyer.post('/api/orders', welcomed)).status).toBe(201)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
})

test('first orders of guests count by e-mail address, and orders that an account has claimed count for the account', async () => {
  const { as, anonymous, emailOf, order, asked, welcomed } = await useWelcome()
  const [ada, other] = [{ email: emailOf('ada') }, { email: emailOf('bob') }]
  const { json: guest } = await anonymous.post('/api/orders/guest', { ...order, ...ada })
  const ask = async (email: object) =>
    (await anonymous.post('/api/orders/guest', { ...welcomed, ...email })).json.code
  expect(await ask(ada)).toBe('ORDER_CODE_REFUSED')
  expect(await ask(other)).toBeUndefined()
  const code = async (buyer: Buyer) =>
    (await buyer.post('/api/checkouts', asked)).json.findings.map((each: { code: string }) => each.code)
  const buyer = as(customer())
  expect(await code(buyer)).toEqual([])
  await buyer.post(`/api/orders/${guest.id}/claim`, undefined, { 'x-order-token': guest.order_token })
  expect(await code(buyer)).toEqual(['CODE_FIRST_ORDER_ONLY'])
  expect(await ask(ada)).toBe('ORDER_CODE_REFUSED')
})

test("of a buyer's concurrent first orders one gets the discount, and an earlier checkout cannot get it afterwards", async () => {
  const { as, order, asked, welcomed, promotionId, sql } = await useWelcome()
  const buyers = [customer(), customer()].map(as)
  const answers = await Promise.all(
    buyers.flatMap(buyer => [welcomed, order, welcomed].map(body => buyer.post('/api/orders', body)))
  )
  const codes = answers.map(({ status, json }) => (status === 201 ? 'made' : json.code))
  for (const code of codes)
    expect(['made', 'ORDER_CODE_REFUSED', 'PRICING_FIRST_ORDER_TAKEN']).toContain(code)
  const used = await sql(
    'select customer, count(*)::int as orders from pricing.redemptions where promotion_id = $1 group by customer',
    [promotionId]
  )
  expect(used.filter(({ orders }) => orders !== 1)).toEqual([])

  const late = as(customer())
  const { json: checkout } = await late.post('/api/checkouts', asked)
  await late.post('/api/orders', order)
  const { json: refused } = await late.post(`/api/checkouts/${checkout.id}/complete`, { payment: TRANSFER })
  expect(refused.code).toBe('ORDER_CODE_REFUSED')
})

test('a guest has one first order per mailbox, whatever the sub-address', async () => {
  const { anonymous, welcomed, tag } = await useWelcome()
  const order = (email: string) => anonymous.post('/api/orders/guest', { ...welcomed, email })
  expect((await order(`ada.lovelace${tag}@gmail.com`)).status).toBe(201)
  for (const email of [
    `adalovelace${tag}@gmail.com`,
    `ada.lovelace${tag}+2@gmail.com`,
    `AdaLovelace${tag}+3@googlemail.com`
  ])
    expect((await order(email)).json.code).toBe('ORDER_CODE_REFUSED')
  for (const email of [`ada.lovelace${tag}@example.com`, `ada.lovelace${tag}+2@example.com`])
    expect((await order(email)).status).toBe(201)
})

const HOME = 'home'
const ELSEWHERE = 'elsewhere'
const HIDDEN = {
  code: 'CODE_NOT_FOR_CUSTOMER',
  message: 'This code is for other customers.',
  blocking: false
}

test('an order with an e-mail address that has used the code gets the same finding as a code for other customers', async () => {
  const { anonymous, admin, asked, asGuest, account, code, emailOf, from, pay } = await useWelcome()
  const email = emailOf('ada')
  const { json: paid } = await asGuest(email, HOME)
  await pay(paid.id)
  const stranger = from(ELSEWHERE)

  const { json: checkout } = await anonymous.post('/api/checkouts/guest', { ...asked, email }, stranger)
  expect(checkout).toMatchObject({ findings: [], discounts: [{ code }] })
  const own = await account(email).post('/api/checkouts', { ...asked, email })
  expect(own.json.findings).toEqual([])

  const direct = await asGuest(email, ELSEWHERE)
  const complete = (body: object) =>
    anonymous.post(`/api/checkouts/guest/${checkout.id}/complete`, body, {
      ...stranger,
      'x-checkout-token': checkout.checkout_token
    })
  const answers = [direct, await complete({ payment: TRANSFER })]
  answers.push(await complete({ payment: TRANSFER, expected_total: checkout.total }))
  for (const { status, json } of answers)
    expect([status, json.code, json.findings]).toEqual([
      direct.status,
      'ORDER_CODE_REFUSED',
      [{ ...HIDDEN, promotion_code: code }]
    ])
  const quoted = await admin.post('/api/admin/orders/quote', { ...asked, email })
  expect(quoted.json.findings).toMatchObject([{ code: 'CODE_FIRST_ORDER_ONLY' }])
})

test('an account and a guest with the same e-mail address are one buyer for usage limits', async () => {
  for (const promotion of [{ first_order_only: true }, { uses_per_customer: 1 }]) {
    const { account, asGuest, emailOf, tag, welcomed, pay } = await useWelcome(promotion)
    const asAccount = async (email: string) => account(email).post('/api/orders', welcomed)
    const { json: first } = await asAccount(`ada${tag}@gmail.com`)
    await pay(first.id)
    expect((await asGuest(`a.da${tag}+1@gmail.com`, HOME)).json.code).toBe('ORDER_CODE_REFUSED')

    const { json: second } = await asGuest(emailOf('bob'), HOME)
    await pay(second.id)
    expect((await asAccount(emailOf('bob'))).json.code).toBe('ORDER_CODE_REFUSED')
    expect((await asAccount(emailOf('eve'))).status).toBe(201)
  }
})

test("a stranger's unpaid order with a customer’s e-mail address uses up none of that customer's promotions", async () => {
  for (const promotion of [{ first_order_only: true }, { uses_per_customer: 1 }]) {
    const { account, asGuest, emailOf, welcomed, pay } = await useWelcome(promotion)
    const email = emailOf('ada')
    const { json: unpaid } = await asGuest(email, ELSEWHERE)
    // The stranger has one use, too, until their order is canceled.
    expect((await asGuest(email, ELSEWHERE)).json.code).toBe('ORDER_CODE_REFUSED')

    const { status, json: own } = await asGuest(email, HOME)
    expect([unpaid.status, status]).toEqual(['pending', 201])
    expect((await account(email).post('/api/orders', welcomed)).status).toBe(201)
    await pay(own.id)
    for (const network of [HOME, ELSEWHERE, 'a third'])
      expect((await asGuest(email, network)).json.code).toBe('ORDER_CODE_REFUSED')
  }
})

test('a canceled order, paid or not, releases the promotion use of its e-mail mailbox', async () => {
  for (const promotion of [{ first_order_only: true }, { uses_per_customer: 1 }]) {
    const { admin, asGuest, emailOf, pay, promotionId, sql } = await useWelcome(promotion)
    for (const isPaid of [false, true]) {
      const { status, json } = await asGuest(emailOf('ada'), HOME)
      expect(status).toBe(201)
      if (isPaid) await pay(json.id)
      await admin.post(`/api/admin/orders/${json.id}/cancel`, {})
      await expect
        .poll(
          () =>
            sql(
              `select customer from pricing.redemptions where promotion_id = $1
              union select customer from pricing.customer_uses where promotion_id = $1`,
              [promotionId]
            ),
          { timeout: 60_000 }
        )
        .toEqual([])
    }
    expect((await asGuest(emailOf('ada'), ELSEWHERE)).status).toBe(201)
  }
})

const AUTOMATIC = [
  { first_order_only: true, needs_code: false },
  { uses_per_customer: 1, needs_code: false }
]

test('a promotion without a code for first orders applies only to verified customers, at the price that was shown', async () => {
  for (const promotion of AUTOMATIC) {
    const { account, emailOf, order, mug } = await useWelcome(promotion)
    const buyer = account(emailOf('ada'), true)
    const discounts = async (who = buyer) =>
      (await who.post('/api/checkouts', sent(mug))).json.discounts.length
    expect([await discounts(), await discounts(account(emailOf('bob')))]).toEqual([1, 0])
    const { json: first } = await buyer.post('/api/orders', order)
    const { json: late } = await account(emailOf('eve')).post('/api/orders', order)
    expect(first.total).toBeLessThan(late.total)
    expect(await discounts()).toBe(0)
  }
})

test('neither a price nor an order reveals whether the owner of an e-mail address has bought before', async () => {
  for (const promotion of AUTOMATIC) {
    const { admin, anonymous, account, asGuest, emailOf, from, order, pay, mug } = await useWelcome(promotion)
    const { json: paid } = await asGuest(emailOf('ada'), HOME, order)
    await pay(paid.id)
    await pay((await account(emailOf('ada'), true).post('/api/orders', order)).json.id)
    const answers = async (email: string) => {
      const stranger = from(ELSEWHERE)
      const { json: checkout } = await anonymous.post(
        '/api/checkouts/guest',
        { ...sent(mug), email },
        stranger
      )
      const complete = await anonymous.post(
        `/api/checkouts/guest/${checkout.id}/complete`,
        { payment: TRANSFER, expected_total: checkout.total },
        { ...stranger, 'x-checkout-token': checkout.checkout_token }
      )
      const direct = await asGuest(email, ELSEWHERE, { ...order, expected_total: checkout.total })
      const typed = await account(email).post('/api/orders', { ...order, expected_total: checkout.total })
      const orders = [complete, direct, typed].map(({ status, json }) => [status, json.code, json.total])
      return [checkout.total, checkout.discounts, checkout.findings, ...orders]
    }
    const [known, unknown] = [await answers(emailOf('ada')), await answers(emailOf('bob'))]
    expect(known).toEqual(unknown)
    expect(known.at(-1)).toEqual([201, undefined, known[0]])
    // An administrator may know it.
    const { json } = await admin.post('/api/admin/orders/quote', { ...sent(mug), email: emailOf('eve') })
    expect(json.discounts).toHaveLength(1)
  }
})

test("unpaid orders with a stranger’s e-mail address count as that buyer's only in the sender's network", async () => {
  const { asGuest, emailOf, order } = await useWelcome()
  const email = emailOf('ada')
  for (let orders = 0; orders < 5; orders += 1)
    expect((await asGuest(email, ELSEWHERE, order)).status).toBe(201)
  expect((await asGuest(email, ELSEWHERE, order)).json.code).toBe('ORDER_PENDING_LIMIT')
  expect((await asGuest(email, HOME, order)).status).toBe(201)
})
