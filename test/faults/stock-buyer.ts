/**
 * A process that buys, and may be ended at any step of a batch: `node stock-buyer.ts URL ITEMS BASKETS [STEP FLUSHED]`.
 * Whatever was acknowledged it says on a line of its own, before anything else happens.
 */
import { writeSync } from 'node:fs'
import { newId } from '../../src/kernel/ids.ts'
import type { Database, Transaction } from '../../src/platform/postgres/database.ts'
import { openStock } from '../support/stock.ts'

const [url = '', items = '', baskets = '0', step = '0', flushed = ''] = process.argv.slice(2)
const BUYERS = 16
const die = () => process.kill(process.pid, 'SIGKILL')
let left = Number(step)

/** Ends the process at the n-th statement of batches: before it, or once it is on its way. */
function countStep(): void {
  left -= 1
  if (left !== 0) return
  if (flushed === 'flushed') setImmediate(die)
  else die()
}

const counting = (tx: Transaction): Transaction => ({
  ...tx,
  rows: (...given) => {
    countStep()
    return tx.rows(...given)
  },
  first: (...given) => {
    countStep()
    return tx.first(...given)
  },
  run: (...given) => {
    countStep()
    return tx.run(...given)
  },
  withCommit: work => tx.withCommit(() => work(counting(tx)))
})

const around = (db: Database): Database => ({
  ...db,
  dedicated: options => {
    const dedicated = db.dedicated(options)
    return { ...dedicated, attempt: (work, limits) => dedicated.attempt(tx => work(counting(tx)), limits) }
  }
})

const stock = openStock(url, Number(step) > 0 ? { around } : {})
const itemIds = items.split(',')
const buyer = async (number: number) => {
  for (let basket = 0; basket < Number(baskets); basket += 1) {
    const owner = newId()
    const lines = itemIds
      .slice(0, 1 + ((number + basket) % itemIds.length))
      .map(variantId => ({ variantId, quantity: 1 }))
    const isBought = await stock.buy(owner, lines).then(
      () => true,
      () => false
    )
    if (isBought) writeSync(1, `${owner} ${lines.length}\n`)
  }
}
await Promise.all(Array.from({ length: BUYERS }, (_, number) => buyer(number)))
await stock.close()
