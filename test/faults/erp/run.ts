import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createHttpClient, type HttpClient } from '../../support/http-client.ts'
import { SECRET_SETTINGS } from '../../support/secrets.ts'
import { until } from '../until.ts'
import { createVictim, type Victim } from '../victim.ts'
import { createChanges } from './changes.ts'
import {
  type Level,
  levelText,
  type Order,
  type OrderEntry,
  orderText,
  type Product,
  productText,
  readCopy
} from './copy.ts'
import { createErp } from './erp.ts'

const ADMIN = { email: 'erp@example.com', password: 'an uncommon sentence' }
const SETTINGS = {
  ...SECRET_SETTINGS,
  CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
  CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400',
  CARTWRIGHT__SHOP__DEMO: 'off',
  CARTWRIGHT__SHOP__CURRENCY: 'EUR',
  // So that orders need no shipping method.
  CARTWRIGHT__MODULES__SHIPPING__ENABLED: 'false',
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","on_account"]',
  CARTWRIGHT__LOG__LEVEL: 'error'
}
const RECOVERY_MS_MAX = 120_000
const SOCKETS = 8
const STOCK = 500

type Size = { products: number; changes: number; kills: number }
export type ErpReport = Size & {
  changes: number
  rejected: number
  events: number
  /** Objects that the ERP read because of an event, and events of which its copy had the change already. */
  reads: number
  known: number
  deleted: number
  erpCrashes: number
  outages: number
  /** Rows of the shop at the end. */
  rows: { products: number; levels: number; orders: number }
  /** From the last change to an equal copy. */
  lagMs: number
  /** Differences between the copy and the shop, and broken promises. */
  wrong: string[]
}

/** An ERP follows a shop while its objects change, and while the shop and its PostgreSQL are killed in turn. At the end both must be equal. */
export async function runErp(
  { products, changes, kills }: Size,
  log: (line: string) => void = () => {}
): Promise<ErpReport> {
  const victim = await createVictim(SETTINGS)
  const http = createHttpClient(victim.origin, SOCKETS)
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-erp-'))
  const file = join(folder, 'erp.sqlite')
  try {
    await victim.start()
    const token = (await http.send('POST', '/api/auth/login', { body: ADMIN }))?.json.access_token
    await importProducts(victim.origin, token, products)
    const variants = (await victim.sql('select id, product_id as product from catalog.variants')) as {
      id: string
      product: string
    }[]
    log(`${variants.length} products`)

    const shop = createChanges({ http, token, variants })
    const erp = createErp({ origin: victim.origin, token, file, crashShare: 0.02 })
    let isOver = false
    const following = erp.run(() => isOver)
    following.catch(() => {})
    await Promise.race([following, until('the first copy', () => hasCopy(file), RECOVERY_MS_MAX)])
    log('the ERP has its first copy')
    const changing = shop.run(changes)
    for (let kill = 0; kill < kills; kill += 1) {
      const enough = (changes * (kill + 1)) / (kills + 1)
      await until('enough changes', () => shop.counts.accepted >= enough, 3_600_000)
      await killOnce(victim, kill)
      log(`${kill + 1} kills, ${shop.counts.accepted} changes, ${erp.counts.events} events read`)
    }
    await changing
    await waitUntilQuiet(victim)
    const endedAt = performance.now()
    isOver = true
    await following
    const lagMs = Math.round(performance.now() - endedAt)
    const { rows, wrong } = await compare(victim, http, token, file)
    const { accepted, rejected, outages } = shop.counts
    return {
      products,
      kills,
      changes: accepted,
      rejected,
      events: erp.counts.events,
      reads: erp.counts.reads,
      known: erp.counts.known,
      deleted: erp.counts.deleted,
      erpCrashes: erp.counts.crashes,
      outages: outages + erp.counts.outages,
      rows,
      lagMs,
      wrong: [...shop.counts.wrong, ...erp.counts.wrong, ...wrong]
    }
  } finally {
    http.close()
    await victim.remove()
    await rm(folder, { recursive: true })
  }
}

async function killOnce(victim: Victim, kill: number): Promise<void> {
  if (kill % 2 === 1) return victim.killPostmaster()
  await victim.killProcess()
  await victim.start()
}

function hasCopy(file: string): boolean {
  using copy = readCopy(file)
  return copy.cursor('feed') !== undefined
}

async function importProducts(origin: string, token: string, products: number): Promise<void> {
  const rows = Array.from(
    { length: products },
    (_, at) =>
      `thing-${at},Thing ${at},true,Title,Default Title,SKU-${at},shopify,${STOCK},deny,${10 + (at % 90)}.00,false`
  )
  const header =
    'Handle,Title,Published,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,Variant Requires Shipping'
  const response = await fetch(`${origin}/api/catalog/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/csv' },
    body: `${header}\n${rows.join('\n')}\n`
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`import: ${response.status} ${text.slice(0, 500)}`)
}

/** Waits for what the shop still does after the last change, such as booking stock. */
async function waitUntilQuiet({ sql }: Victim): Promise<void> {
  const open = () =>
    sql(`
      select handler from cartwright.jobs where id > 0 and due_at < now() + interval '1 minute'
      union all select kind from inventory.requests where done_at is null`)
  await until('no event, job or request is left', async () => (await open()).length === 0, RECOVERY_MS_MAX)
}

type Kind = 'products' | 'levels' | 'orders'
/** Compares the copy with the shop's API, row by row. */
async function compare(victim: Victim, http: HttpClient, token: string, file: string) {
  const read = async (path: string) => {
    const answer = await http.send('GET', path, { token })
    if (answer?.status !== 200) throw new Error(`GET ${path}: ${answer?.status}`)
    return answer.json
  }
  async function* all<T>(path: string): AsyncGenerator<T> {
    let cursor: string | null = null
    do {
      const page: { items: T[]; next_cursor: string | null } = await read(
        `${path}?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
      )
      yield* page.items
      cursor = page.next_cursor
    } while (cursor !== null)
  }
  const shop: Record<Kind, string[]> = { products: [], levels: [], orders: [] }
  for await (const level of all<Level>('/api/inventory/levels')) shop.levels.push(levelText(level))
  for await (const { id } of all<OrderEntry>('/api/admin/orders'))
    shop.orders.push(orderText((await read(`/api/admin/orders/${id}`)) as Order))
  const [stored] = (await victim.sql(`
    select array(select id::text from catalog.products) as products,
      (select count(*)::int from inventory.levels) as levels, (select count(*)::int from orders.orders) as orders`)) as [
    { products: string[]; levels: number; orders: number }
  ]
  for (const id of stored.products)
    shop.products.push(productText((await read(`/api/catalog/products/${id}`)) as Product))

  const wrong: string[] = []
  if (shop.levels.length !== stored.levels || shop.orders.length !== stored.orders)
    wrong.push('the lists of the shop are not complete')
  using copy = readCopy(file)
  for (const kind of ['products', 'levels', 'orders'] as const) {
    const [mine, theirs] = [new Set(copy.rows(kind)), new Set(shop[kind])]
    for (const row of [...theirs].filter(each => !mine.has(each)).slice(0, 5))
      wrong.push(`${kind}: the copy lacks ${row}`)
    for (const row of [...mine].filter(each => !theirs.has(each)).slice(0, 5))
      wrong.push(`${kind}: the copy has ${row}`)
  }
  const rows = { products: shop.products.length, levels: shop.levels.length, orders: shop.orders.length }
  return { rows, wrong }
}

// By hand: `npm run faults:erp -- --products 10000 --changes 3600 --kills 5`, an hour of one change a second in some minutes.
if (import.meta.main) {
  const number = (given: string) => ({ type: 'string', default: given }) as const
  const { values } = parseArgs({
    options: { products: number('10000'), changes: number('3600'), kills: number('5') }
  })
  const size = {
    products: Number(values.products),
    changes: Number(values.changes),
    kills: Number(values.kills)
  }
  const report = await runErp(size, line => process.stdout.write(`${line}\n`))
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
  process.exit(report.wrong.length === 0 ? 0 : 1)
}
