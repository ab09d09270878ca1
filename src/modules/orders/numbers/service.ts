import { singleFlight } from '../../../kernel/single-flight.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { numberOf } from './number.ts'
import * as repository from './repository.ts'

/** So many are drawn at once. */
const DRAWN = 32

/** Draws numbers of orders: each once, and some that no order gets. The key is read once. */
export function createNumbers(db: Queryable) {
  let key: Buffer | undefined
  const drawn: number[] = []
  const drawOnce = singleFlight<void>()

  async function readKey(): Promise<Buffer> {
    const row = await db.first(repository.findNumberKey)
    if (row === undefined)
      throw new Error('the key of order numbers is gone: it has to be restored from a backup')
    return row.key
  }
  async function draw(): Promise<void> {
    for (const { value } of await db.rows(repository.nextNumbers, { count: DRAWN })) drawn.push(value)
  }
  return async (): Promise<string> => {
    key ??= await readKey()
    for (;;) {
      const value = drawn.shift()
      if (value !== undefined) return numberOf(value, key)
      await drawOnce('numbers', draw)
    }
  }
}
