import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'

const GUESTS = '/api/checkouts/guest'
const unknownCodes = (prefix: string) => Array.from({ length: 10 }, (_, index) => `${prefix}-${index}`)

/** A shop in which a client address may send ten unknown codes. */
async function useLimited() {
  const shop = await useCheckouts({
    settings: {
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
      CARTWRIGHT__ORDERS__UNKNOWN_CODES_PER_MINUTE: '10',
      CARTWRIGHT__ORDERS__CHECKOUTS_PER_MINUTE: '100',
      CARTWRIGHT__ORDERS__ORDERS_PER_MINUTE: '100'
    }
  })
  const items = [itemOf(await shop.sell())]
  return { ...shop, items, begin: (codes?: string[]) => shop.anonymous.post(GUESTS, { items, codes }) }
}

test('clients that send unknown promotion codes are rate limited, also in parallel and with an account', async () => {
  const { anonymous, as, items, begin, sql } = await useLimited()
  const answers = await Promise.all(['A', 'B', 'C', 'D'].map(each => begin(unknownCodes(each))))
  const told = answers.filter(({ status }) => status === 201).map(({ json }) => json)
  expect(told.map(codesOf)).toEqual([expect.arrayContaining(['CODE_UNKNOWN'])])
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.map(({ status, json }) => [status, json.code])).toEqual(
    Array(3).fill([429, 'CHECKOUT_CODES_LIMITED'])
  )
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0)
  expect(await sql('select id from orders.checkouts')).toHaveLength(1)

  const [{ id, checkout_token }] = told
  const token = { 'x-checkout-token': checkout_token as string }
  const change = (codes?: string[]) => anonymous.put(`${GUESTS}/${id}`, { items, codes }, token)
  expect((await change(unknownCodes('E'))).status).toBe(429)
  expect((await change()).status).toBe(200)
  const customer = as({ token: 'customer' })
  expect((await customer.post('/api/checkouts', { items, codes: unknownCodes('F') })).status).toBe(429)
  expect((await customer.post('/api/checkouts', { items })).status).toBe(201)
})

test('known promotion codes do not count against the limit of unknown ones, nor do codes of a failed request', async () => {
  const { begin, anonymous, made } = await useLimited()
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const promotion = await made('promotions', { name: 'Ten', class: 'order', effect, needs_code: true })
  await made(`promotions/${promotion.id}/codes`, { code: 'TEN' })
  for (let time = 0; time < 12; time += 1)
    expect(codesOf((await begin(['ten'])).json)).not.toContain('CODE_UNKNOWN')
  const nowhere = `${GUESTS}/0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e`
  for (let time = 0; time < 3; time += 1)
    expect((await anonymous.put(nowhere, { codes: unknownCodes('A') })).status).toBe(404)
  expect((await begin(unknownCodes('A'))).status).toBe(201)
  expect((await begin(unknownCodes('B'))).status).toBe(429)
})

test('orders that probe which e-mail addresses have used a code are limited like unknown codes', async () => {
  const { anonymous, items, made, sql, usePost } = await useLimited()
  await usePost()
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const first = { needs_code: true, first_order_only: true }
  const { id } = await made('promotions', { name: 'First', class: 'order', effect, ...first })
  await made(`promotions/${id}/codes`, { code: 'FIRST' })
  const order = { items, codes: ['FIRST'], shipping_address: STOCKHOLM, email: 'ada@example.com' }
  const place = () => anonymous.post('/api/orders/guest', order)
  const { json: checkout } = await anonymous.post(GUESTS, order)
  const complete = () =>
    anonymous.post(`${GUESTS}/${checkout.id}/complete`, {}, { 'x-checkout-token': checkout.checkout_token })
  expect((await place()).status).toBe(201)
  for (let time = 0; time < 5; time += 1)
    for (const attempt of [place, complete]) expect((await attempt()).json.code).toBe('ORDER_CODE_REFUSED')
  for (const attempt of [place, complete]) expect((await attempt()).json.code).toBe('CHECKOUT_CODES_LIMITED')
  expect(await sql('select id from orders.orders')).toHaveLength(1)
})
