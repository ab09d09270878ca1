import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { notificationsModule, standardModules } from 'cartwright'
import { admin, customer, openTestShop } from 'cartwright/testing'
import { createGuessLimiter } from './gift-cards/cards/guesses.ts'
import { giftCardsModule } from './gift-cards/index.ts'

const MUG = 1_000
const CARD_WORTH = 2_500
/** Without auth, tests act as any customer or administrator. Without inventory, everything is in stock. */
const without = ['auth', 'inventory']
const modules = [...standardModules.filter(({ name }) => !without.includes(name)), giftCardsModule]

let shop: Awaited<ReturnType<typeof openTestShop>>
let variants: { mug: string; card: string }
before(async () => {
  shop = await openTestShop({
    modules,
    settings: {
      CARTWRIGHT__GIFT_CARDS__PRODUCTS: JSON.stringify([{ sku: 'GIFT-25', worth: CARD_WORTH }]),
      CARTWRIGHT__GIFT_CARDS__WRONG_CODES_PER_MINUTE: '1000'
    }
  })
  const [mug, card] = await Promise.all([sell('MUG', MUG), sell('GIFT-25', CARD_WORTH)])
  variants = { mug, card }
})
after(() => shop.close())

/** Creates a product that needs no shipping, so that an order costs what its items cost. */
async function sell(sku: string, price: number): Promise<string> {
  const variant = { sku, price, requires_shipping: false }
  const { status, json, text } = await manager().post('/api/catalog/products', {
    name: sku,
    variants: [variant]
  })
  assert.equal(status, 201, text)
  return json.variants[0].id
}

const manager = () => shop.as(admin())
const ADDRESS = { name: 'Ada', line1: 'Road 1', city: 'Bern', postal_code: '3000', country: 'CH' }
const orderOf = (variantId: string, quantity: number, tenders: object[] = []) => ({
  items: [{ variant_id: variantId, quantity }],
  email: 'ada@example.com',
  billing_address: ADDRESS,
  payment: { provider: 'manual', method: 'bank_transfer' },
  tenders
})
const giftCard = (code: string, amount?: number) => ({ type: 'gift_card', code, ...(amount && { amount }) })

/** Records that the bank transfer of an order has arrived. */
async function receiveTransfer(orderId: string): Promise<void> {
  const { json } = await manager().get(`/api/admin/payments?order_id=${orderId}`)
  const { status, text } = await manager().post(`/api/admin/payments/${json.items[0].id}/capture`, {})
  assert.equal(status, 200, text)
}

/** Waits until `read` returns a value. The runner ends a test that waits forever. */
async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await read()
    if (value !== undefined) return value
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** Buys a gift card and returns the code from the mail. */
async function buyCard(): Promise<string> {
  const placed = await shop.as(null).post('/api/orders/guest', orderOf(variants.card, 1))
  assert.equal(placed.status, 201, placed.text)
  const mailbox = shop.apiOf(notificationsModule)?.devMailbox
  const mailed = async () =>
    ((await mailbox?.list(null)) ?? []).filter(({ template }) => template === 'gift_cards.code')
  const earlier = new Set((await mailed()).map(({ id }) => id))
  await receiveTransfer(placed.json.id)
  const mail = await until(async () => (await mailed()).find(({ id }) => !earlier.has(id)))
  const found = await mailbox?.find(mail.id)
  const [code = ''] = /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec(found?.body_text ?? '') ?? []
  assert.notEqual(code, '')
  return code
}

const balances = async () =>
  (await shop.sql(`select label, balance::int from gift_cards.cards`)).map(({ label, balance }) => [
    label,
    balance
  ])
async function balanceOf(code: string): Promise<unknown> {
  return (await balances()).find(([label]) => String(label).endsWith(code.slice(-4)))?.[1]
}

/** The entries of every card add up to its balance. */
async function assertLedger(): Promise<void> {
  const wrong = await shop.sql(
    `select id from gift_cards.cards
     where balance <> (select sum(amount) from gift_cards.entries where card_id = cards.id)`
  )
  assert.deepEqual(wrong, [])
}

test('a gift card is bought as a product, mailed once, and pays for orders of guests and customers', async () => {
  const code = await buyCard()
  // The code is deleted after the mail server has accepted the mail.
  const stored = await until(
    async () => (await shop.sql('select code_hash from gift_cards.cards where sealed_code is null'))[0]
  )
  assert.ok(!String(stored.code_hash).includes(code.replaceAll('-', '')))

  const guest = await shop
    .as(null)
    .post('/api/orders/guest', orderOf(variants.mug, 1, [giftCard(code.toLowerCase())]))
  assert.equal(guest.status, 201, guest.text)
  assert.equal(guest.json.payment_status, 'paid')
  assert.deepEqual(
    guest.json.tenders.map(({ amount, label }: Record<string, unknown>) => [amount, label]),
    [[MUG, `•••• ${code.slice(-4)}`]]
  )

  const buyer = shop.as(customer())
  const split = await buyer.post('/api/orders', orderOf(variants.mug, 2, [giftCard(code)]))
  assert.equal(split.json.payment_status, 'unpaid', split.text)
  assert.equal(split.json.tenders[0].amount, CARD_WORTH - MUG)
  await receiveTransfer(split.json.id)
  const paid = await buyer.get(`/api/orders/${split.json.id}`)
  assert.equal(paid.json.payment_status, 'paid')
  assert.equal(await balanceOf(code), 0)
  await assertLedger()
})

test('a canceled order gives the card back what it gave', async () => {
  const code = await buyCard()
  const buyer = shop.as(customer())
  const order = await buyer.post('/api/orders', orderOf(variants.mug, 1, [giftCard(code, 600)]))
  assert.equal(await balanceOf(code), CARD_WORTH - 600, order.text)
  const canceled = await buyer.post(`/api/orders/${order.json.id}/cancel`, {})
  assert.equal(canceled.status, 200, canceled.text)
  assert.equal(await balanceOf(code), CARD_WORTH)
  await assertLedger()
})

test('64 parallel orders take no more than a card has', async () => {
  const code = await buyCard()
  const buyers = Array.from({ length: 64 }, () => shop.as(customer()))
  const placed = await Promise.all(
    buyers.map(buyer => buyer.post('/api/orders', orderOf(variants.mug, 1, [giftCard(code)])))
  )
  const orders = placed.filter(({ status }) => status === 201)
  const covered = orders.reduce((sum, { json }) => sum + json.tenders[0].amount, 0)
  assert.equal(covered, CARD_WORTH)
  for (const { status, json } of placed)
    if (status !== 201)
      assert.match(json.code, /^GIFT_CARD_(?:UNKNOWN|GUESSES_LIMITED)$|^ORDER_TENDER_SHORT$/)
  assert.equal(await balanceOf(code), 0)
  await assertLedger()
})

test('an expired card ends, and a refund makes it valid again', async () => {
  const code = await buyCard()
  const buyer = shop.as(customer())
  const order = await buyer.post('/api/orders', orderOf(variants.mug, 1, [giftCard(code, 600)]))
  assert.equal(order.status, 201, order.text)
  await shop.sql(`update gift_cards.cards set expires_at = now() - interval '1 second' where balance > 0`)
  const refused = await shop.as(customer()).post('/api/orders', orderOf(variants.mug, 1, [giftCard(code)]))
  assert.equal(refused.json.code, 'GIFT_CARD_UNKNOWN')
  await shop.sql(`update cartwright.jobs set due_at = now() where handler = 'gift_cards.expire_cards'`)
  await until(async () => ((await balanceOf(code)) === 0 ? true : undefined))
  const canceled = await buyer.post(`/api/orders/${order.json.id}/cancel`, {})
  assert.equal(canceled.status, 200, canceled.text)
  assert.equal(await balanceOf(code), 600)
  await assertLedger()
  const again = await buyer.post('/api/orders', orderOf(variants.mug, 1, [giftCard(code)]))
  assert.equal(again.json.tenders[0].amount, 600, again.text)
})

test('look-ups of a network are refused after too many wrong codes, and right ones do not count', async () => {
  const limitGuesses = createGuessLimiter(3)
  const lookUp = (network: string | null, isRight: boolean) =>
    limitGuesses({ buyer: { customerId: null, network } }, async () => {
      if (!isRight) throw new Error('wrong code')
      return 'found'
    }).catch(({ code, message }) => code ?? message)
  const right = await Promise.all(Array.from({ length: 3 }, () => lookUp('a', true)))
  assert.deepEqual(right, ['found', 'found', 'found'])
  const wrong = await Promise.all(Array.from({ length: 4 }, () => lookUp('a', false)))
  assert.deepEqual(wrong, ['wrong code', 'wrong code', 'wrong code', 'GIFT_CARD_GUESSES_LIMITED'])
  assert.equal(await lookUp('a', true), 'GIFT_CARD_GUESSES_LIMITED')
  assert.equal(await lookUp('b', true), 'found')
  assert.equal(await lookUp(null, true), 'found')
})
