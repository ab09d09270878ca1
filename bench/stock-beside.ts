import { besideReaders } from './readers.ts'
import { askForRounds } from './rounds.ts'
import { type Bench, countAll } from './shop.ts'

const VARIANTS = 4

/** How long readers of carts wait while the same process reserves stock, at half of what it can do. */
export const beside = (bench: Bench): Promise<void> =>
  besideReaders(bench, 'bench/buying-shop.ts', 'buyers', async url => {
    await countAll(bench.client)
    // Baskets of the same four variants, of which there is plenty.
    const { rows } = await bench.client.query<{ item_id: string }>(
      `select item_id from inventory.levels order by item_id limit ${VARIANTS}`
    )
    return askForRounds(`${url}/api/buyers/rounds`, { variant_ids: rows.map(({ item_id }) => item_id) })
  })
