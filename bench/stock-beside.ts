import { openReaders, waits } from './readers.ts'
import { type Bench, countAll, type Started, startShop } from './shop.ts'
import { median, print } from './tables.ts'

const ROUNDS = 7
const SECONDS = 4
const MAX_SECONDS = 3
const VARIANTS = 4

/** How long readers of carts wait while the same process reserves stock, at half of what it can do. */
export async function beside(bench: Bench): Promise<void> {
  const readers = await openReaders(bench)
  await countAll(bench.client)
  const shop = await startShop(bench.databaseUrl, {}, { main: 'bench/buying-shop.ts' })
  try {
    const buy = await openBuyers(bench, shop)
    const most = [await buy(MAX_SECONDS, 0), await buy(MAX_SECONDS, 0), await buy(MAX_SECONDS, 0)]
    const half = Math.round(median(most) / 2)
    print(`At most ${Math.round(median(most))} baskets/s, so ${half}/s beside the readers.\n`)
    const seen: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
    for (let round = 0; round <= ROUNDS; round += 1) {
      const alone = await readers.p99(shop.url, SECONDS)
      const [rate, both] = await Promise.all([buy(SECONDS, half), readers.p99(shop.url, SECONDS)])
      if (rate < 0.95 * half) throw new Error(`only ${Math.round(rate)} baskets/s of ${half} were bought`)
      // The first one warms up.
      if (round === 0) continue
      seen.alone.push(alone)
      seen.beside.push(both)
    }
    waits(seen.alone, 'beside buyers', seen.beside)
  } finally {
    await shop.stop()
    await readers.close()
  }
}

/** Baskets of the same four variants, of which there is plenty. */
async function openBuyers({ client }: Bench, { url }: Started) {
  const { rows } = await client.query<{ item_id: string }>(
    `select item_id from inventory.levels order by item_id limit ${VARIANTS}`
  )
  const variant_ids = rows.map(({ item_id }) => item_id)
  /** Answers how many were bought a second; 0 asks for as many as can be. */
  return async (seconds: number, per_second: number): Promise<number> => {
    const response = await fetch(`${url}/api/buyers/rounds`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ variant_ids, seconds, per_second })
    })
    if (response.status !== 200) throw new Error(await response.text())
    return ((await response.json()) as { per_second: number }).per_second
  }
}
