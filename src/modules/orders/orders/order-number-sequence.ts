import { createSingleFlight } from '../../../kernel/single-flight.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { orderNumberOfSequenceValue } from './order-number.ts'
import * as repository from './repository.ts'

/** Numbers that one statement takes from the sequence. */
const NUMBERS_PER_DRAW = 32

/** Creates the function that returns the next order number. Numbers are unique; some are never used. */
export function createOrderNumberGenerator(db: Queryable) {
  let key: Buffer | undefined
  const drawn: number[] = []
  const drawOnce = createSingleFlight<void>()

  async function readKey(): Promise<Buffer> {
    const row = await db.first(repository.findOrderNumberPermutationKey)
    if (row === undefined) throw new Error('the key of order numbers is missing: restore it from a backup')
    return row.key
  }
  async function draw(): Promise<void> {
    for (const { value } of await db.rows(repository.nextOrderSequenceValues, { count: NUMBERS_PER_DRAW }))
      drawn.push(value)
  }
  return async (): Promise<string> => {
    key ??= await readKey()
    for (;;) {
      const value = drawn.shift()
      if (value !== undefined) return orderNumberOfSequenceValue(value, key)
      await drawOnce('numbers', draw)
    }
  }
}
