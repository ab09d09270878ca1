import { expect, test } from 'vitest'
import {
  createCustomer,
  createShippingMethods,
  type ShopOfAllModules,
  useShopOfAllModules
} from './never/use-everything.ts'
import { useShop } from './support/use-shop.ts'

const PASSWORD = 'nine lives and a piano'

test('a customer who deletes the account gets all data of all modules, and is erased from them once no order is open', async () => {
  const shop = await useShop()
  const body = { email: 'ada@example.com', password: PASSWORD }
  const { json } = await shop.as(null).post('/api/auth/register', body)
  const ada = shop.as({ token: json.access_token })
  const id: string = json.user.id
  await shop.sql(
    `insert into cart.carts (cart_id, quantity, distinct_count, expires_at) values ($1, 2, 1, 'infinity')`,
    [id]
  )
  const metadata = { engraving: 'For Ada' }
  await shop.sql('insert into cart.items (cart_id, variant_id, quantity, metadata) values ($1, $1, 2, $2)', [
    id,
    metadata
  ])
  await shop.sql(
    `insert into pricing.exemptions (id, customer_id, company, reason) values ($1, $1, 'Engines AB', 'reseller')`,
    [id]
  )
  await shop.sql(`insert into pricing.first_orders (customer, owner) values ($1, $2)`, [id, id])
  await shop.sql(
    `insert into orders.orders (id, number, state, terms, customer_id, buyer, email, market, currency, subtotal,
       discount_total, shipping_total, tax_total, tax_added, cash_rounding, total, shipping_address,
       fulfillment_status)
     values ($1, 'X1', 'pending', 'prepaid', $1, $2, 'ada@example.com', 'default', 'EUR', 0, 0, 0, 0, 0, 0, 0,
       '{ "name": "Ada Byron", "country": "SE" }', 'none')`,
    [id, id]
  )

  const { parts } = (await ada.get('/api/auth/me/export')).json
  expect(Object.keys(parts)).toEqual(
    expect.arrayContaining(['auth', 'cart', 'notifications', 'orders', 'payments', 'pricing', 'reviews'])
  )
  expect(parts).toMatchObject({
    auth: { account: { email: body.email } },
    cart: { items: [{ variant_id: id, quantity: 2, metadata }] },
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
     union all select 'lines of carts' from cart.items where cart_id = $1
     union all select 'exemptions' from pricing.exemptions where customer_id = $1
     union all select 'first orders' from pricing.first_orders where customer = $1::text
     union all select 'orders' from orders.orders where customer_id = $1 or email is not null
       or shipping_address::text like '%Ada%'`,
    [id]
  )
  expect(left).toEqual([])
})

/** Tables whose column names look personal, but hold no personal data. */
const IMPERSONAL: Readonly<Record<string, string>> = {
  'inventory.locations': 'the address is the shop’s',
  'orders.data_requests': 'what a guest asked for is deleted after a day',
  'notifications.suppressions': 'a keyed hash, so that an address stays on the suppression list',
  'pricing.promotions': 'rules'
}

/** The event log keeps the id of an erased account, because other systems erase what they store under it. */
const KEEPS_IDS = /^cartwright\.events(?:_|$)/

/** Searches every row of every table for these words. */
async function lookFor({ sql }: Pick<ShopOfAllModules, 'sql'>, words: readonly string[]) {
  const tables = await sql(
    `select format('%I.%I', table_schema, table_name) as name, string_agg(column_name, ', ') filter (where column_name ~
       '(customer|user_id|email|recipient|buyer|address|author|phone|merged_into)') as about
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
     group by 1 order by 1`
  )
  const looks = tables.map(
    ({ name }) => `select '${name}' as name from ${name} as t where t::text like any ($1)`
  )
  const found = (await sql(looks.join(' union '), [words.map(word => `%${word}%`)])).map(({ name }) => name)
  // Rows that hang on the account go with it.
  const hanging = (
    await sql(
      `with recursive hanging as (
         select conrelid from pg_constraint where confrelid = 'auth.users'::regclass and confdeltype in ('c', 'n')
         union select c.conrelid from pg_constraint c join hanging h on c.confrelid = h.conrelid where c.confdeltype = 'c'
       )
       select conrelid::regclass::text as name from hanging`
    )
  ).map(({ name }) => name)
  return {
    found,
    /** Tables that could contain personal data, and had none before the erasure. */
    blank: tables
      .filter(({ name, about }) => about !== null && ![...found, ...hanging].includes(name))
      .filter(({ name }) => IMPERSONAL[String(name)] === undefined)
      .map(
        ({ name, about }) =>
          `${name} has ${about}: leave a trace of Ada there, or say in IMPERSONAL why it belongs to no person`
      )
  }
}

test('an erased customer is in no table, and the test lists each table that could contain personal data', async () => {
  const shop = await useShopOfAllModules()
  await createShippingMethods(shop)
  const product = await shop.sell()
  expect(
    (await shop.admin.put(`/api/inventory/levels/${product.variants[0]?.id}`, { on_hand: 100 })).status
  ).toBe(200)
  const administrate = async (path: string, body: object) => {
    const { status, text } = await shop.admin.post(path, body)
    expect(status, text).toBeLessThan(300)
  }
  await administrate('/api/admin/promotions', {
    name: 'Welcome',
    class: 'order',
    needs_code: false,
    first_order_only: true,
    uses_per_customer: 1,
    effect: { type: 'percentage', percentage_ppm: 100_000 }
  })
  const { of, ...account } = await createCustomer(shop, product)
  const ada = shop.as(account)
  const profile = { name: 'Ada Quillfeather', phone: '+46701234567' }
  expect((await ada.patch('/api/auth/me', profile)).status).toBe(200)
  await administrate('/api/admin/taxes/exemptions', {
    customer_id: account.id,
    company: 'Quillfeather AB',
    reason: 'reseller'
  })
  const { json: review } = await ada.post(`/api/products/${(await shop.sell()).id}/reviews`, { rating: 1 })
  await administrate(`/api/catalog/reviews/${review.id}/reject`, { reason: 'no words' })
  const line = { variant_id: product.variants[0].id, quantity: 1 }
  const { guest_cart_token } = (await shop.anonymous.post('/api/guest-cart', line)).json
  expect((await ada.post('/api/cart/merge', { guest_cart_token })).status).toBe(200)

  // Tables may keep the end of an id only.
  const idEnd = account.id.slice(-22)
  const words = [idEnd, account.email, 'Quillfeather', profile.phone, 'Ada Lovelace', 'Drottninggatan']
  await shop.handled()
  const { found, blank } = await lookFor(shop, words)
  expect(blank).toEqual([])
  expect(found.length).toBeGreaterThan(20)
  await shop.sql('create table reviews.wishes (customer_id uuid)')
  expect((await lookFor(shop, words)).blank).toEqual([
    'reviews.wishes has customer_id: leave a trace of Ada there, or say in IMPERSONAL why it belongs to no person'
  ])
  const told = await ada.get('/api/auth/me/export')
  for (const word of words) expect(told.text).toContain(word)

  expect((await ada.post(`/api/orders/${of.order}/cancel`)).status).toBeLessThan(300)
  expect((await ada.post('/api/auth/me/delete', { password: PASSWORD })).status).toBe(204)
  // What was being written while they left goes a minute later.
  const hurry = `update cartwright.jobs set due_at = now() where handler = 'auth.erase_again' returning id`
  expect(await shop.sql(hurry)).toHaveLength(1)
  await shop.handled()
  const { found: left } = await lookFor(shop, words)
  expect(left.filter(name => !KEEPS_IDS.test(String(name)))).toEqual([])
  expect(
    (
      await lookFor(
        shop,
        words.filter(word => word !== idEnd)
      )
    ).found
  ).toEqual([])
})
