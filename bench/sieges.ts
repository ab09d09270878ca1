/**
 * What other clients see while a shop is attacked or disturbed: `npm run bench:sieges`, or with the names of some of the attacks.
 * Linux, and a C compiler. See README.md.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { openBalancedShop, openLimitedShop, openProvidingShop } from './disturbed-shops.ts'
import { type Flooded, openFlood, requestOf } from './flood.ts'
import { fillShop, openBench, registerUsers, type Started, startShop, WITHOUT_LIMITS } from './shop.ts'
import {
  besiege,
  type Disturbance,
  reportOf,
  type Side,
  type Siege,
  type Target,
  type Verdict
} from './siege.ts'

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

const ADMIN = { email: 'boss@shop.example', password: 'nine lives and a piano' }
/** 300 log-ins that arrive within a second, every other second. */
const BURST = 300
/** Estimates of shipping in a run: as many as the limit of their addresses allows in eight seconds. */
const ESTIMATES = 320

/** A siege of a shop of its own, whose disturbance is the attack. */
type OwnShop = Target & { disturb: Disturbance; close(): Promise<void> }
type OwnSiege = Omit<Siege, 'attack'> & { open: () => Promise<OwnShop> }

const wanted = process.argv.slice(2)
const bench = await openBench()
const flood = openFlood()
let shop: Started | undefined
let holdAll = true
try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  shop = await startShop(bench.databaseUrl, {
    ...PRODUCTION,
    ...WITHOUT_LIMITS,
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  const users = await registerUsers(shop.url, ADDRESSES)
  const staff = await logIn(shop.url)
  await fillShop(
    bench.client,
    { lines: 3, variants: 1_000, carts: 1_000 },
    users.map(({ id }) => id)
  )
  await shop.stop()
  shop = await startShop(bench.databaseUrl, PRODUCTION)
  const others = othersOf(users)
  await warm(shop, others)
  for (const siege of [...siegesOf(others, staff), ...ownSiegesOf(others)]) {
    if (wanted.length > 0 && !wanted.includes(siege.name)) continue
    const verdict = 'open' in siege ? await besiegeOwn(siege) : await besiege(flood, shop, siege)
    process.stdout.write(`${reportOf(siege.name, verdict)}\n`)
    holdAll &&= verdict.holds
  }
} finally {
  await shop?.stop()
  await flood.close()
  await bench.close()
}
process.exitCode = holdAll ? 0 : 1

async function besiegeOwn({ open, ...siege }: OwnSiege): Promise<Verdict> {
  const own = await open()
  try {
    await warm(own, siege.others)
    return await besiege(flood, own, { ...siege, attack: own.disturb })
  } finally {
    await own.close()
  }
}

async function warm({ url }: Target, { requests }: Side): Promise<void> {
  await flood.run({ url, connections: 8, rate: 0, seconds: 3, requests })
}

async function logIn(url: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(ADMIN)
  const response = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(`log in: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { access_token: string }).access_token
}

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

function siegesOf(others: Side, staff: string): Siege[] {
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
        connections: 16,
        rate: 40,
        source,
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
        connections: 64,
        rate: 400,
        source,
        requests: ['/metrics', '/openapi.json', '/docs', '/docs/main.js', '/'].map(get)
      },
      harmless
    },
    {
      name: 'templates',
      others,
      // Without a limit, each takes 2.4 s.
      attack: { connections: 4, rate: 4, source, requests: [previewOf(staff)] },
      harmless
    },
    { name: 'log-ins', others, attack: logInBursts(), harmless }
  ]
}

function previewOf(staff: string): string {
  const text = "{% assign x = (1..100000) | where_exp: 'a', 'a > 1' %}"
  const body = { template: 'order_placed', text }
  return requestOf('POST', '/api/admin/notifications/preview', { token: staff, from: ATTACKER, body })
}

/** Log-ins of accounts that do not exist, each from an address of its own: no limit by address or account refuses them. */
function logInBursts(): Disturbance {
  let count = 0
  const next = () => {
    count += 1
    const body = { email: `unknown-${count}@example.com`, password: ADMIN.password }
    return requestOf('POST', '/api/auth/login', { from: `10.9.${count >> 8}.${count & 255}`, body })
  }
  return async (seconds, url) => {
    const all: Flooded[] = []
    for (let second = 0; second < seconds; second += 2) {
      const requests = Array.from({ length: BURST }, next)
      const burst = { url, connections: BURST, rate: BURST, seconds: 1, requests, source: '127.0.0.2' }
      const [seen] = await Promise.all([flood.run(burst), delay(2_000)])
      all.push(seen)
    }
    const sum = (name: 'sent' | 'good' | 'refused' | 'other') =>
      all.reduce((total, each) => total + each[name], 0)
    return { sent: sum('sent'), good: sum('good'), refused: sum('refused'), other: sum('other') }
  }
}

/** Estimates of parcels that were not asked for before, by clients at forty addresses. */
function createEstimates(count: number): () => string[] {
  let grams = 0
  return () =>
    Array.from({ length: count }, (_, index) => {
      grams += 1
      const body = { weight_grams: grams, value: 1_000, destination: { country: 'SE' } }
      return requestOf('POST', '/api/shipping/rates', { from: `203.0.113.${index % ADDRESSES}`, body })
    })
}

/** What disturbs a shop without any request, or while a service that it needs hangs. */
function ownSiegesOf(others: Side): OwnSiege[] {
  const harmless = { connections: 1, source: '127.0.0.2', requests: [requestOf('GET', '/healthz')] }
  const estimates = createEstimates(ESTIMATES)
  const searches = Array.from({ length: ADDRESSES }, (_, index) =>
    requestOf('GET', `/api/products?q=number%20${index}`, { from: `198.51.100.${index + 1}` })
  )
  return [
    { name: 'redis', others, open: () => openBalancedShop(bench.databaseUrl, PRODUCTION), harmless },
    {
      name: 'connections',
      others: { ...others, requests: [...others.requests, ...searches] },
      open: () => openLimitedShop(bench.databaseUrl, PRODUCTION),
      harmless
    },
    {
      name: 'providers',
      others,
      open: () => openProvidingShop(bench.databaseUrl, PRODUCTION, { flood, estimates }),
      // The service responds to them.
      harmless: { connections: 64, source: '127.0.0.2', requests: estimates() }
    }
  ]
}
