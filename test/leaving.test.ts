import { expect, test } from 'vitest'
import { useShop } from './support/use-shop.ts'

const PASSWORD = 'nine lives and a piano'

test('who leaves is told all that the modules keep, and is gone from all of them, once no order is open', async () => {
  const shop = await useShop()
  const body = { email: 'ada@example.com', password: PASSWORD }
  const { json } = await shop.as(null).post('/api/auth/register', body)
  const ada = shop.as({ token: json.access_token })
  const id: string = json.user.id
  await shop.sql(
    `insert into cart.carts (cart_id, quantity, distinct_count, expires_at) values ($1, 2, 1, 'infinity')`,
    [id]
  )
  await shop.sql('insert into cart.items (cart_id, variant_id, quantity) values ($1, $1, 2)', [id])
  await shop.sql(
    `insert into pricing.exemptions (id, customer_id, company, reason) values ($1, $1, 'Engines AB', 'reseller')`,
    [id]
  )
  await shop.sql(`insert into pricing.first_orders (customer, owner) values ($1, $2)`, [id, id])
  await shop.sql(
    `insert into orders.orders (id, number, state, terms, customer_id, buyer, email, market, currency, subtotal,
       discount_total, shipping_total, tax_total, tax_added, cash_rounding, total, quote_hash, shipping_address,
       fulfillment_status)
     values ($1, 'X1', 'pending', 'prepaid', $1, $2, 'ada@example.com', 'default', 'EUR', 0, 0, 0, 0, 0, 0, 0, '',
       '{ "name": "Ada Byron", "country": "SE" }', 'none')`,
    [id, id]
  )

  const { parts } = (await ada.get('/api/auth/me/export')).json
  expect(Object.keys(parts)).toEqual(
    expect.arrayContaining(['auth', 'cart', 'notifications', 'orders', 'payments', 'pricing', 'reviews'])
  )
  expect(parts).toMatchObject({
    auth: { account: { email: body.email } },
    cart: { items: [{ variant_id: id, quantity: 2 }] },
    orders: { orders: [{ number: 'X1', shipping_address: { name: 'Ada Byron' } }], checkouts: [] },
    payments: { payments: [] },
    pricing: { tax_exemptions: [{ company: 'Engines AB' }], redemptions: [] }
  })

  const leave = () => ada.post('/api/auth/me/delete', { password: PASSWORD })
  const refused = await leave()
  expect([refused.status, refused.json.code]).toEqual([409, 'ORDER_STILL_OPEN'])
  // The mail of welcome may have been sent meanwhile.
  const again = (await ada.get('/api/auth/me/export')).json.parts
  expect({ ...again, notifications: [] }).toEqual({ ...parts, notifications: [] })

  await shop.sql(`update orders.orders set state = 'canceled' where id = $1`, [id])
  expect((await leave()).status).toBe(204)
  const left = await shop.sql(
    `select 'carts' as what from cart.carts where cart_id = $1
     union all select 'exemptions' from pricing.exemptions where customer_id = $1
     union all select 'first orders' from pricing.first_orders where customer = $1::text
     union all select 'orders' from orders.orders where customer_id = $1 or email is not null
       or shipping_address::text like '%Ada%'`,
    [id]
  )
  expect(left).toEqual([])
})
