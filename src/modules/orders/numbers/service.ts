import type { Queryable } from '../../../platform/postgres/database.ts'
import { numberOf } from './number.ts'
import * as repository from './repository.ts'

/** Draws numbers of orders: each once, and some that no order gets. The key is read once. */
export function createNumbers(db: Queryable) {
  let key: Buffer | undefined
  async function readKey(): Promise<Buffer> {
    const row = await db.first(repository.findNumberKey)
    if (row === undefined)
      throw new Error('the key of order numbers is gone: it has to be restored from a backup')
    return row.key
  }
  return async (): Promise<string> => {
    key ??= await readKey()
    const row = await db.first(repository.nextNumber)
    if (row === undefined) throw new Error('the sequence of order numbers answers nothing')
    return numberOf(row.value, key)
  }
}
