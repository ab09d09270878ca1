import { STOCKHOLM } from '../test/support/checkouts.ts'
import { requestOf } from './flood.ts'
import type { Bench, Started } from './shop.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }
const MANY = '1000000'
/** Settings of a shop where a few addresses and customers order as fast as they can. */
export const ORDER_SETTINGS = {
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: MANY,
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: MANY,
  CARTWRIGHT__ORDERS__UNPAID_STOCK__BUYER__UNITS_MAX: MANY,
  CARTWRIGHT__ORDERS__UNPAID_STOCK__NETWORK__UNITS_MAX: MANY,
  CARTWRIGHT__ORDERS__UNPAID_STOCK__UNVERIFIED__UNITS_MAX: MANY,
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery"]',
  // A customer is at home somewhere: the orders of one address that wait for their payment are counted.
  CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
  CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
  CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
}

/** One way to send things. Returns the token of the administrator. */
export async function openPost({ url }: Started): Promise<{ adminToken: string }> {
  const post = async (path: string, body: object, token?: string) => {
    const response = await fetch(`${url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body)
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { id: string; access_token: string }
  }
  const { access_token } = await post('auth/login', ADMIN)
  const made = async (path: string, body: object) =>
    (await post(`admin/shipping/${path}`, body, access_token)).id
  const zone_id = await made('zones', { name: 'Sweden', areas: [{ country: 'SE' }] })
  const fields = { kind: 'shipping', service: 'Standard', tax_category: 'standard' }
  await made('rates', { method_id: await made('methods', fields), zone_id, amount: 490 })
  return { adminToken: access_token }
}

/** A payment that places an order. */
export const CASH_ON_DELIVERY = { provider: 'manual', method: 'cash_on_delivery' }

/** An order of each customer's cart. Without `payment` it waits for one. */
export const orderRequests = (users: readonly { token: string }[], payment?: object): string[] =>
  users.map(({ token }, at) =>
    requestOf('POST', '/api/orders', {
      token,
      body: { shipping_address: STOCKHOLM, payment },
      from: addressOf(at)
    })
  )

function addressOf(at: number): string {
  return `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`
}

/** Fills the cart of each customer with 5 lines, side by side, one of which is `common` if that is given. */
export async function fillCarts(
  client: Bench['client'],
  variantIds: readonly string[],
  common: string | null
): Promise<void> {
  await client.query('truncate cart.items')
  await client.query(
    `insert into cart.items (cart_id, variant_id, quantity)
     select distinct cart_id, case when line = 1 then coalesce($2, random_id) else random_id end, 1
     from cart.carts cross join generate_series(1, 5) line
     cross join lateral (
       select ($1::uuid[])[1 + abs(hashtext(cart_id::text || line || clock_timestamp()::text)) % $3] as random_id
     ) chosen
     order by cart_id`,
    [variantIds, common, variantIds.length]
  )
  await client.query(`
    update cart.carts set version = version + 1, quantity = lines.count, distinct_count = lines.count
    from (select cart_id, count(*) from cart.items group by cart_id) lines where lines.cart_id = carts.cart_id`)
}
