import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

// A whole visit to the shop whose address is given, as a shop front makes it, and what came of each step as JSON.

type Schemas = components['schemas']

const [, , baseUrl = ''] = process.argv
const shop = createClient<paths>({ baseUrl })

function failed(problem: Schemas['Problem'] | undefined): never {
  throw new Error(problem?.code ?? 'no answer')
}

async function browse() {
  const { data, error } = await shop.GET('/api/products', { params: { query: { limit: 1, sort: '-price' } } })
  if (data === undefined) failed(error)
  const [summary] = data.items
  const path = { id: summary?.slug ?? '' }
  const first = await shop.GET('/api/products/{id}', { params: { path } })
  if (first.data === undefined) failed(first.error)
  const header = { 'if-none-match': first.response.headers.get('etag') ?? '' }
  const again = await shop.GET('/api/products/{id}', { params: { path, header } })
  return { product: first.data, again: again.response.status, nextCursor: data.next_cursor }
}

async function fillGuestCart(variantId: string) {
  const made = await shop.POST('/api/guest-cart', { body: { variant_id: variantId, quantity: 1 } })
  const token = made.data?.guest_cart_token
  if (token === undefined) failed(made.error)
  const header = { 'x-guest-cart-token': token, 'if-match': made.response.headers.get('etag') ?? '' }
  const set = (quantity: number) =>
    shop.PUT('/api/guest-cart/items/{variantId}', {
      params: { path: { variantId }, header },
      body: { quantity }
    })
  const changed = await set(3)
  const stale = await set(4)
  return { token, cart: changed.data ?? failed(changed.error), stale: stale.error?.code }
}

async function register(): Promise<Schemas['SignedInResponse']> {
  const body = { email: 'grace@example.com', password: 'a long engine poem' }
  const registered = await shop.POST('/api/auth/register', { body })
  if (registered.error !== undefined) failed(registered.error)
  // A shop may want the address to be proved first: then it answers no tokens before.
  const { data, error } = await shop.POST('/api/auth/login', { body })
  return data ?? failed(error)
}

const bearer = ({ access_token }: Schemas['TokensResponse']) => ({ authorization: `Bearer ${access_token}` })

async function refresh({ refresh_token }: Schemas['TokensResponse']): Promise<Schemas['TokensResponse']> {
  const { data, error } = await shop.POST('/api/auth/refresh', { body: { refresh_token } })
  return data ?? failed(error)
}

async function mergeCarts(tokens: Schemas['TokensResponse'], guestCartToken: string) {
  const header = { 'idempotency-key': crypto.randomUUID() }
  const body = { guest_cart_token: guestCartToken }
  const { data, error } = await shop.POST('/api/cart/merge', {
    headers: bearer(tokens),
    params: { header },
    body
  })
  return data ?? failed(error)
}

/** Without an address at first, then with all of it. */
async function checkOut(tokens: Schemas['TokensResponse']) {
  const headers = bearer(tokens)
  const begun = await shop.POST('/api/checkouts', { headers, body: { cart: true } })
  if (begun.data === undefined) failed(begun.error)
  const { id, version } = begun.data
  const { data, error } = await shop.PUT('/api/checkouts/{id}', {
    headers,
    params: { path: { id }, header: { 'if-match': `"${version}"` } },
    body: {
      cart: true,
      shipping_address: {
        name: 'Grace',
        line1: 'Torget 1',
        city: 'Umeå',
        postal_code: '903 26',
        country: 'SE'
      },
      codes: ['none']
    }
  })
  return { begun: begun.data, checkout: data ?? failed(error) }
}

async function beRefused() {
  const body = { variant_id: crypto.randomUUID(), quantity: 0 }
  const { error, response } = await shop.POST('/api/guest-cart', { body })
  return { status: response.status, code: error?.code, fields: error?.errors?.map(({ path }) => path) }
}

const { product, again, nextCursor } = await browse()
const [variant] = product.variants
const guest = await fillGuestCart(variant?.id ?? '')
const customer = await register()
const merged = await mergeCarts(customer, guest.token)
const fresh = await refresh(customer)
const cart = await shop.GET('/api/cart', { headers: bearer(fresh) })
const { begun, checkout } = await checkOut(fresh)
const codesOf = ({ findings }: Schemas['CheckoutResponse']) => findings.map(({ code }) => code)
const told = {
  product: { name: product.name, price: variant?.discounted_price, again, nextCursor },
  guest: { count: guest.cart.count, stale: guest.stale },
  merge: merged.merge.status,
  cart: cart.data?.items.map(({ name, quantity, line_total }) => ({ name, quantity, line_total })),
  checkout: {
    begun: codesOf(begun),
    codes: codesOf(checkout),
    total: checkout.total,
    name: checkout.items[0]?.name
  },
  refused: await beRefused(),
  stranger: (await shop.GET('/api/cart')).error?.status
}
console.log(JSON.stringify(told))
