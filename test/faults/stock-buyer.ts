/**
 * A process that buys, and can be killed at any step of a batch: `node stock-buyer.ts URL ITEMS BASKETS [STEP FLUSHED]`.
 * It prints each acknowledged purchase on a line before it continues.
 */
import { writeSync } from 'node:fs'
import { newId } from '../../src/kernel/ids.ts'
import type { Database, Transaction } from '../../src/platform/postgres/database.ts'
import { openStock } from '../support/stock.ts'

const [url = '', items = '', baskets = '0', step = '0', flushed = ''] = process.argv.slice(2)
const BUYERS = 16
const killProcess = () => process.kill(process.pid, 'SIGKILL')
let stepsLeft = Number(step)

/** Kills the process at the n-th statement of batches, before or after the statement is sent. */
function countStep(): void {
  stepsLeft -= 1
  if (stepsLeft !== 0) return
  if (flushed === 'flushed') setImmediate(killProcess)
  else killProcess()
}

const countSteps = (tx: Transaction): Transaction => ({
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
  withCommit: work => tx.withCommit(() => work(countSteps(tx)))
})

const withCountedSteps = (db: Database): Database => ({
  ...db,
  dedicated: options => {
    const dedicated = db.dedicated(options)
    return { ...dedicated, attempt: (work, limits) => dedicated.attempt(tx => work(countSteps(tx)), limits) }
  }
})

const stock = openStock(url, Number(step) > 0 ? { around: withCountedSteps } : {})
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
