import { expect, test } from 'vitest'
import type { TestResponse } from '../../../test/support/app.ts'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'
import { newId } from '../../kernel/ids.ts'
import { customer } from '../../testing.ts'

const withToken = (token: string) => ({ headers: { 'x-checkout-token': token } })

/** Two customers and two guests, each with a checkout. */
async function fourCheckouts() {
  const shop = await useCheckouts()
  const body = { items: [itemOf(await shop.sell())], shipping_address: STOCKHOLM }
  const asCustomer = async () => {
    const { token } = customer()
    const { json } = await shop.request('POST', '/api/checkouts', { token, body })
    return { id: json.id as string, base: '/api/checkouts', options: { token } as object }
  }
  const asGuest = async () => {
    const { status, json } = await shop.request('POST', '/api/checkouts/guest', { body })
    expect(status).toBe(201)
    return { id: json.id as string, base: '/api/checkouts/guest', options: withToken(json.checkout_token) }
  }
  const owners = [await asCustomer(), await asCustomer(), await asGuest(), await asGuest()]
  const stored = () => shop.sql('select * from orders.checkouts order by id')
  /** Every action on a checkout. */
  const tryAll = (base: string, id: string, options: object) =>
    Promise.all([
      shop.request('GET', `${base}/${id}`, options),
      shop.request('PUT', `${base}/${id}`, { ...options, body }),
      shop.request('POST', `${base}/${id}/cancel`, options)
    ])
  return { shop, owners, stored, tryAll, body }
}

function expectNothingTold(answers: readonly TestResponse[]): void {
  for (const { status, json } of answers) {
    const { request_id: _, ...body } = json
    expect([status, body]).toEqual([
      404,
      {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        code: 'CHECKOUT_NOT_FOUND',
        detail: 'The checkout does not exist.'
      }
    ])
  }
}

test('every checkout route returns 404 for a checkout of another buyer', async () => {
  const { owners, stored, tryAll } = await fourCheckouts()
  const before = await stored()
  const ids = [...owners.map(({ id }) => id), newId()]
  for (const me of owners)
    for (const id of ids.filter(each => each !== me.id))
      for (const base of ['/api/checkouts', '/api/checkouts/guest'])
        if (base === me.base) expectNothingTold(await tryAll(base, id, me.options))
  expect(await stored()).toEqual(before)
})

test('a checkout token proves access to its checkout only, and must be complete', async () => {
  const { shop, owners, stored, tryAll } = await fourCheckouts()
  const [customers, , guest] = owners
  const token = guest?.options as ReturnType<typeof withToken>
  const right = token.headers['x-checkout-token']
  const before = await stored()
  const id = guest?.id ?? ''
  const wrong = ['', right.slice(0, -1), `${right}A`, right.toUpperCase(), right.slice(4), `cht_${id}`, id]
  for (const text of [...wrong, right.replace('cht_', 'gct_'), 'cht_test.', 'cht_none.AAAA'])
    expectNothingTold(await tryAll('/api/checkouts/guest', id, withToken(text)))
  expectNothingTold(await tryAll('/api/checkouts/guest', id, {}))
  expectNothingTold(await tryAll('/api/checkouts/guest', customers?.id ?? '', token))
  // A customer has no access to a guest checkout, nor a guest to a customer's.
  expectNothingTold(await tryAll('/api/checkouts', id, { ...customers?.options, ...token }))
  expect((await shop.request('GET', `/api/checkouts/${customers?.id}`, token)).status).toBe(401)
  expect(await stored()).toEqual(before)
  const read = await shop.request('GET', `/api/checkouts/guest/${id.toUpperCase()}`, token)
  expect([read.status, read.json.id]).toEqual([200, id])
  expect(read.text).not.toContain(right)
  expect(shop.log.join('')).not.toContain(right.slice(-20))
})

test('a checkout token stays valid after the secret of the shop is rotated', async () => {
  const keys = ['old', 'new'].map(id => ({ id, key: Buffer.alloc(32, id).toString('base64') }))
  const settingsOf = (used: object[]) => ({ CARTWRIGHT__SECRETS__KEYS: JSON.stringify(used) })
  const shop = await useCheckouts({ settings: settingsOf(keys.slice(0, 1)) })
  const body = { items: [itemOf(await shop.sell())] }
  const { json } = await shop.anonymous.post('/api/checkouts/guest', body)
  const read = async (used: object[]) => {
    const other = await useCheckouts({ settings: settingsOf(used), databaseUrl: shop.databaseUrl })
    return other.request('GET', `/api/checkouts/guest/${json.id}`, withToken(json.checkout_token))
  }
  expect((await read(keys.toReversed())).status).toBe(200)
  expectNothingTold([await read(keys.slice(1))])
})
