import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { residentMegabytesMax } from './cpu.ts'
import { openReaders, waits } from './readers.ts'
import { type Bench, countAll, type Started, startShop } from './shop.ts'
import { print } from './tables.ts'

const ADMIN = { email: 'boss@example.com', password: 'an uncommon engine poem' }
const PRODUCTS = 20_000
const SIZES = 5
const ROUNDS = 5
const SECONDS = 4
/** So much is counted when the process is killed. */
const KILLED_AT = (PRODUCTS * SIZES) / 3
const COLUMNS = [
  'Handle',
  'Title',
  'Body (HTML)',
  'Option1 Name',
  'Option1 Value',
  'Variant SKU',
  'Variant Price',
  'Variant Inventory Tracker',
  'Variant Inventory Qty',
  'Variant Inventory Policy'
]

/**
 * Imports the stock of 100,000 variants while carts are read. The process is killed during the import, and the same file
 * is sent again to another process.
 */
export async function importing(bench: Bench): Promise<void> {
  const readers = await openReaders(bench)
  await countAll(bench.client)
  const environment = {
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  }
  const otherMovements = await movementsOf(bench.client)
  const countedOf = async () => (await movementsOf(bench.client)) - otherMovements
  const first = await startShop(bench.databaseUrl, environment)
  const broken = sendFile(first).then(
    () => Promise.reject(new Error('it was imported before it could be killed')),
    () => {}
  )
  while ((await countedOf()) < KILLED_AT) await delay(100)
  await first.stop('SIGKILL')
  await broken
  const counted = await countedOf()

  const shop = await startShop(bench.databaseUrl, environment)
  try {
    const alone: number[] = []
    const beside: number[] = []
    // The first one warms up.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const p99 = await readers.p99(shop.url, SECONDS)
      if (round > 0) alone.push(p99)
    }
    let isOver = false
    const startedAt = performance.now()
    const importing = sendFile(shop).finally(() => {
      isOver = true
    })
    while (!isOver) beside.push(await readers.p99(shop.url, SECONDS))
    const report = await importing
    const seconds = (performance.now() - startedAt) / 1_000
    waits(alone, 'beside the import', beside)
    print(`\nKilled with ${counted} variants counted; then, in ${seconds.toFixed(0)} s and at most`)
    print(`${Math.round(residentMegabytesMax(shop.pid))} MB: ${JSON.stringify(report)}`)
    const after = await booksOf(bench.client)
    const all = PRODUCTS * SIZES
    if (after.levels !== all || after.movements !== all || after.right !== all)
      throw new Error(`of ${all} variants: ${JSON.stringify(after)}`)
  } finally {
    await shop.stop()
    await readers.close()
  }
}

/** Sends the file to the administrator's route, and answers what the report says of variants. */
async function sendFile({ url }: Started): Promise<unknown> {
  const login = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(ADMIN)
  })
  const { access_token: token } = (await login.json()) as { access_token: string }
  const response = await fetch(`${url}/api/catalog/import`, {
    method: 'POST',
    headers: { 'content-type': 'text/csv', authorization: `Bearer ${token}` },
    body: Readable.toWeb(Readable.from(fileRows())) as never,
    duplex: 'half'
  } as RequestInit)
  if (response.status !== 200) throw new Error(await response.text())
  return ((await response.json()) as { variants: unknown }).variants
}

function* fileRows(): Generator<string> {
  yield `${COLUMNS.join(',')}\n`
  for (let product = 0; product < PRODUCTS; product += 1)
    for (let size = 0; size < SIZES; size += 1) {
      const [title, text, option] =
        size === 0 ? [`Thing ${product}`, 'words '.repeat(40), 'Size'] : ['', '', '']
      const sku = `IMPORTED-${product}-${size}`
      yield `imported-${product},${title},${text},${option},${size},${sku},10,shopify,${onHandOf(product, size)},deny\n`
    }
}

/** Never 0: a count that finds nothing new is no movement. */
const onHandOf = (product: number, size: number): number => 1 + ((product * SIZES + size) % 97)

/** How many counts there are beside those of before, and what of the file came out as it says. */
async function booksOf(client: pg.Client): Promise<{ levels: number; movements: number; right: number }> {
  await client.query('analyze inventory.items, inventory.levels, inventory.movements')
  const { rows } = await client.query(
    `select count(distinct (levels.item_id, levels.location_id))::int as levels, count(*)::int as movements,
       count(*) filter (where on_hand = 1 + (split_part(sku, '-', 2)::int * ${SIZES} + split_part(sku, '-', 3)::int) % 97)::int
         as right
     from inventory.items join inventory.levels on levels.item_id = items.id
       join inventory.movements on movements.item_id = levels.item_id and movements.location_id = levels.location_id
     where sku like 'IMPORTED-%'`
  )
  return rows[0]
}

async function movementsOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query('select count(*)::int as movements from inventory.movements')
  return rows[0].movements
}
