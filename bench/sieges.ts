/**
 * What other clients see while one address attacks: `npm run bench:sieges`, or with the names of some of the attacks.
 * Linux, and a C compiler. See README.md.
 */
import { randomBytes } from 'node:crypto'
import { modules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { openFlood, requestOf } from './flood.ts'
import { fillShop, openBench, registerUsers, type Started, startShop, WITHOUT_LIMITS } from './shop.ts'
import { besiege, reportOf, type Side, type Siege } from './siege.ts'

const ADDRESSES = 40
const ATTACKER = '203.0.113.7'
/** The defaults of production, behind a proxy that names each client. */
const PRODUCTION = {
  CARTWRIGHT__ENVIRONMENT: 'production',
  CARTWRIGHT__SECRETS__KEYS: JSON.stringify([{ id: 'siege', key: randomBytes(32).toString('base64') }]),
  CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
  CARTWRIGHT__PAYMENTS__DEFAULT_PROVIDER: 'manual',
  CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '1200',
  CARTWRIGHT__RATE_LIMIT__SECURED_PER_MINUTE: '1200'
}

const wanted = process.argv.slice(2)
const bench = await openBench()
const flood = openFlood()
let shop: Started | undefined
let holdAll = true
try {
  await migrate(bench.databaseUrl, migrationSources(modules))
  shop = await startShop(bench.databaseUrl, { ...PRODUCTION, ...WITHOUT_LIMITS })
  const users = await registerUsers(shop.url, ADDRESSES)
  await fillShop(
    bench.client,
    { lines: 3, variants: 1_000, carts: 1_000 },
    users.map(({ id }) => id)
  )
  await shop.stop()
  shop = await startShop(bench.databaseUrl, PRODUCTION)
  const warm = { url: shop.url, connections: 8, rate: 0, seconds: 3, requests: othersOf(users).requests }
  await flood.run(warm)
  for (const siege of siegesOf(othersOf(users))) {
    if (wanted.length > 0 && !wanted.includes(siege.name)) continue
    const verdict = await besiege(flood, shop, siege)
    process.stdout.write(`${reportOf(siege.name, verdict)}\n`)
    holdAll &&= verdict.holds
  }
} finally {
  await shop?.stop()
  await flood.close()
  await bench.close()
}
process.exitCode = holdAll ? 0 : 1

/** Customers at forty addresses who read products and their cart, 80 requests a second together. */
function othersOf(users: readonly { token: string }[]): Side {
  const requests = users.flatMap(({ token }, index) => {
    const from = `198.51.100.${index + 1}`
    return [
      requestOf('GET', '/api/products', { from }),
      requestOf('GET', '/api/cart', { token, from }),
      requestOf('DELETE', '/api/cart', { token, from })
    ]
  })
  return { connections: 80, rate: 80, requests, source: '127.0.0.3' }
}

function siegesOf(others: Side): Siege[] {
  const source = '127.0.0.2'
  const from = ATTACKER
  const post = (path: string, text: string) =>
    requestOf('POST', path, { from, body: JSON.parse(text) as object })
  const get = (path: string) => requestOf('GET', path, { from })
  const keys = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`
  const items = (count: number) => `{"items":[${Array(count).fill('{}').join(',')}]}`
  const lines = Array(14_000)
    .fill(`{"variant_id":"${'0'.repeat(36)}","quantity":1}`)
    .join(',')
  const harmless = { connections: 64, source, requests: [get('/healthz')] }
  return [
    {
      name: 'bodies',
      others,
      attack: {
        ...{ connections: 16, rate: 40, source },
        requests: [
          post('/api/auth/login', keys(89_000)),
          post('/api/guest-cart', keys(89_000)),
          post('/api/shipping/rates', items(300_000)),
          post('/api/orders/guest', `{"items":[${lines}]}`)
        ]
      },
      harmless
    },
    {
      name: 'pages',
      others,
      attack: {
        ...{ connections: 64, rate: 400, source },
        requests: ['/metrics', '/openapi.json', '/docs', '/docs/swagger-ui-bundle.js', '/'].map(get)
      },
      harmless
    }
  ]
}
