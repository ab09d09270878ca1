/**
 * What the stock writer can do, as ratios within one run: `npm run bench:stock`, or with the name of a part (`baskets`,
 * `crowd`, `beside`, `import`). Needs pgbench for the first, and a C compiler for the last two.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { standardModules } from '../src/app.ts'
import { newId } from '../src/kernel/ids.ts'
import { migrationSources } from '../src/module.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { testDatabaseOptions } from '../test/support/database-options.ts'
import { openStock } from '../test/support/stock.ts'
import { faultsOf, makeItems } from '../test/support/stock-ledger.ts'
import { reserveAlone } from '../test/support/stock-without-writer.ts'
import { type Bench, openBench } from './shop.ts'
import { beside } from './stock-beside.ts'
import { importing } from './stock-import.ts'
import { print, table } from './tables.ts'

const ROUNDS = 5
const BUYERS = 64
const BASKETS = 20_000
const BASKETS_ALONE = 3_000
const VARIANTS = 4
const PLENTY = 1_000_000
const CROWD = 10_000
const UNITS = 100
const PGBENCH_SECONDS = 3

const run = promisify(execFile)
const parts = { baskets, crowd, beside, import: importing }
const wanted = process.argv.slice(2).filter(each => !each.startsWith('--'))

/** Baskets of 1 to 3 of the same four variants, 64 buyers at a time. */
async function baskets(bench: Bench): Promise<void> {
  const { databaseUrl, client } = bench
  const stock = openStock(databaseUrl)
  const db = openDatabase(aloneOptions(databaseUrl))
  const { itemIds, locationId } = await makeItems(client, VARIANTS)
  await stock.count(locationId, Object.fromEntries(itemIds.map(id => [id, PLENTY])))
  let next = 0
  const lines = () => {
    next += 1
    const first = next % VARIANTS
    return Array.from({ length: 1 + (next % 3) }, (_, at) => ({
      variantId: itemIds[(first + at) % VARIANTS] as string,
      quantity: 1
    }))
  }
  const rates: Record<string, number[]> = { writer: [], 'a transaction a basket': [], pgbench: [] }
  for (let round = 0; round <= ROUNDS; round += 1) {
    const measured = {
      writer: await rateOf(BASKETS, () => stock.buy(newId(), lines())),
      'a transaction a basket': await rateOf(BASKETS_ALONE, () => reserveAlone(db, newId(), lines())),
      pgbench: await pgbench(bench)
    }
    // The first one warms up.
    if (round > 0) for (const [name, rate] of Object.entries(measured)) rates[name]?.push(rate)
  }
  await db.close()
  await stock.close()
  table('1/s', rates, 'a transaction a basket')
}

/** 10,000 buyers come at once for 100 units. */
async function crowd({ databaseUrl, client }: Bench): Promise<void> {
  const stock = openStock(databaseUrl)
  const db = openDatabase(aloneOptions(databaseUrl))
  const milliseconds: Record<string, number[]> = { writer: [], 'a transaction a buyer': [] }
  const measure = async (name: string, buy: (variantId: string) => Promise<unknown>) => {
    const { itemIds, locationId } = await makeItems(client, 1)
    await stock.count(locationId, { [itemIds[0] as string]: UNITS })
    const startedAt = performance.now()
    const ends = await Promise.allSettled(Array.from({ length: CROWD }, () => buy(itemIds[0] as string)))
    const sold = ends.filter(({ status }) => status === 'fulfilled').length
    if (sold !== UNITS) throw new Error(`${name} sold ${sold} of ${UNITS}`)
    return performance.now() - startedAt
  }
  for (let round = 0; round <= ROUNDS; round += 1) {
    const alone = 'a transaction a buyer'
    const inTurn = queued(BUYERS)
    const measured = {
      writer: await measure('writer', variantId => stock.buy(newId(), [{ variantId, quantity: 1 }])),
      [alone]: await measure(alone, variantId =>
        inTurn(() => reserveAlone(db, newId(), [{ variantId, quantity: 1 }]))
      )
    }
    if (round > 0) for (const [name, each] of Object.entries(measured)) milliseconds[name]?.push(each)
  }
  await db.close()
  await stock.close()
  table('ms', milliseconds, 'a transaction a buyer')
}

/** As many connections as PostgreSQL has processors, doubled, did best here; none of them gives up on a lock. */
const aloneOptions = (url: string) => ({
  ...testDatabaseOptions(url),
  poolSize: 8,
  poolWaitMs: 60_000,
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 60_000
})

async function rateOf(count: number, work: () => Promise<unknown>): Promise<number> {
  let left = count
  const startedAt = performance.now()
  const buyer = async () => {
    while (left > 0) {
      left -= 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: BUYERS }, buyer))
  return (count * 1_000) / (performance.now() - startedAt)
}

/** So many at a time. */
function queued(atOnce: number) {
  const waiting: (() => void)[] = []
  let busy = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (busy >= atOnce) await new Promise<void>(resolve => waiting.push(resolve))
    else busy += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) busy -= 1
      else next()
    }
  }
}

/** The bare conditional update of one of four rows, a transaction each, by as many clients. */
async function pgbench({ databaseUrl, client }: Bench): Promise<number> {
  await client.query(`
    create schema if not exists yardstick;
    drop table if exists yardstick.levels;
    create table yardstick.levels (like inventory.levels including all);
    alter table yardstick.levels add column number int;
    insert into yardstick.levels (item_id, location_id, on_hand, number)
      select gen_random_uuid(), gen_random_uuid(), ${PLENTY}, number from generate_series(1, ${VARIANTS}) number`)
  const { rows } = await client.query<{ item_id: string; location_id: string }>(
    'select item_id, location_id from yardstick.levels'
  )
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-pgbench-'))
  try {
    const scripts = await Promise.all(
      rows.map(async ({ item_id, location_id }, index) => {
        const script = join(folder, `${index}.sql`)
        await writeFile(
          script,
          `update yardstick.levels set reserved = reserved + 1
           where item_id = '${item_id}' and location_id = '${location_id}' and on_hand - safety - reserved >= 1;\n`
        )
        return ['-f', script]
      })
    )
    const load = ['-n', '-M', 'prepared', '-c', String(BUYERS), '-j', '2', '-T', String(PGBENCH_SECONDS)]
    const { stdout } = await run('pgbench', [...load, ...scripts.flat(), databaseUrl])
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  print(`\n## ${name}\n`)
  const bench = await openBench({ connectionsMax: 120 })
  try {
    await migrate(bench.databaseUrl, migrationSources(standardModules))
    await measure(bench)
    const faults = await faultsOf(bench.client)
    if (faults.length > 0) throw new Error(`the books are wrong: ${JSON.stringify(faults.slice(0, 3))}`)
  } finally {
    await bench.close()
  }
}
