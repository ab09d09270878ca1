/**
 * The yardstick: the smallest program that answers `GET /api/cart` properly, with nothing but `node:http` and `pg`.
 * Tokens are verified once and remembered, the cart is one join over pipelined connections, the answer is JSON.
 * It has no routes, limits, metrics or log: what the product costs beyond it is what all of that costs.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { importJWK, type JWK, jwtVerify } from 'jose'
import pg from 'pg'

const CONNECTIONS = 2
const { YARDSTICK_DATABASE = '', YARDSTICK_JWK = '', YARDSTICK_PORT = '0' } = process.env

const key = await importJWK(JSON.parse(YARDSTICK_JWK) as JWK, 'EdDSA')
pg.types.setTypeParser(pg.types.builtins.INT8, Number)
const clients = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const options = '-c plan_cache_mode=force_generic_plan'
    const settings = { connectionString: YARDSTICK_DATABASE, options, pipeline: true }
    const client = new pg.Client(settings as pg.ClientConfig)
    await client.connect()
    return client
  })
)

const text = `
  select i.variant_id, i.quantity, v.sku, v.price, v.discounted_price, v.stock, v.attributes, p.id as product_id,
         p.name, p.slug, p.image_url
  from yardstick.items i
  join yardstick.variants v on v.id = i.variant_id
  join yardstick.products p on p.id = v.product_id
  where i.cart_id = $1`
// What the product says with every cart, so that both send as much.
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-store',
  vary: 'Authorization, X-Guest-Cart-Token',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'x-request-id': '0199f2a0-0000-7000-8000-000000000000',
  etag: '"1"'
}
const verified = new Map<string, string>()
let turn = 0

async function userOf(authorization: string | undefined): Promise<string | undefined> {
  const token = authorization?.slice('Bearer '.length) ?? ''
  const known = verified.get(token)
  if (known !== undefined) return known
  const { payload } = await jwtVerify(token, key)
  if (payload.sub !== undefined) verified.set(token, payload.sub)
  return payload.sub
}

const server = createServer(async (request, response) => {
  const customerId = await userOf(request.headers.authorization).catch(() => undefined)
  if (customerId === undefined || request.url !== '/api/cart') {
    response.writeHead(customerId === undefined ? 401 : 404).end()
    return
  }
  turn = (turn + 1) % CONNECTIONS
  const client = clients[turn] as pg.Client
  const { rows: items } = await client.query({ name: 'cart', text, values: [customerId] })
  const total = items.reduce((sum, item) => sum + item.discounted_price * item.quantity, 0)
  const body = JSON.stringify({ customer_id: customerId, items, total })
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
})
server.listen(Number(YARDSTICK_PORT), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
