import { standardModules } from '../src/app.ts'
import { newId } from '../src/kernel/ids.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { besideReaders } from './readers.ts'
import { askForRounds } from './rounds.ts'
import { type Bench, openBench } from './shop.ts'
import { print, table } from './tables.ts'

const PLENTY = 100_000_000
const ROUNDS = 5
const SECONDS = 2

/** How often one promotion with a limit is redeemed a second, and how long readers of carts wait beside half of that. */
export async function takers(): Promise<void> {
  const bench = await openBench({ connectionsMax: 120 })
  try {
    await migrate(bench.databaseUrl, migrationSources(standardModules))
    await bench.client.query('create schema takers; create table takers.steps (owner uuid, step int)')
    await besideReaders(bench, 'bench/taking-shop.ts', 'takers', async url => {
      const promotion_id = await promote(bench)
      const take = (in_turn: boolean) => askForRounds(`${url}/api/takers/rounds`, { promotion_id, in_turn })
      const rates: Record<string, number[]> = { 'in turn': [], 'meeting at the row': [] }
      for (let round = 0; round <= ROUNDS; round += 1)
        for (const name of Object.keys(rates)) {
          const rate = await take(name === 'in turn')(SECONDS, 0)
          // The first one warms up.
          if (round > 0) rates[name]?.push(rate)
        }
      table('redeemed/s', rates, 'meeting at the row')
      print('')
      return take(true)
    })
    await expectConsistentRedemptions(bench)
  } finally {
    await bench.close()
  }
}

async function promote({ client }: Bench): Promise<string> {
  const id = newId()
  await client.query(
    `insert into pricing.promotions (id, name, class, priority, active, needs_code, minimum_quantity,
      first_order_only, effect, combines, uses_per_customer)
    values ($1, 'Bench', 'order', 0, true, false, 0, false, '{"type":"percentage","percentage_ppm":1}', '{}', 5)`,
    [id]
  )
  await client.query('insert into pricing.usage_limits (id, uses_max) values ($1, $2)', [id, PLENTY])
  return id
}

async function expectConsistentRedemptions({ client }: Bench): Promise<void> {
  const { rows } = await client.query(
    'select taken, (select count(*)::int from pricing.redemptions) as redeemed from pricing.usage_limits'
  )
  const [{ taken, redeemed }] = rows as [{ taken: number; redeemed: number }]
  if (taken !== redeemed) throw new Error(`${taken} are counted of ${redeemed} that were redeemed`)
  print(`\n${redeemed} were redeemed, and each is counted.`)
}
