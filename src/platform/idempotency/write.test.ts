import { expect, test } from 'vitest'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { newId } from '../../kernel/ids.ts'
import { createIdempotentWrite } from './write.ts'

/** A request that creates an object with the variants `places`, each with a field of another module. */
function writeWithFields(places: readonly number[]) {
  const written: string[] = []
  const id = newId()
  const request = { id, isApplied: false, resultId: null, expectedVersion: null }
  const write = createIdempotentWrite({
    ...request,
    writeFields: async (_tx, createdId) => {
      written.push(createdId(undefined, 0), ...places.map(place => createdId('variants', place)))
    }
  })
  return { id, write, written }
}

test('fields are written with the id of the created object, and with the recorded ids of a list', async () => {
  const { id, write, written } = writeWithFields([0, 2])
  const [small, medium, large] = [newId(), newId(), newId()]
  await write.once(transactionsInMemory, async () => write.resultsIn('variants', [small, medium, large]))
  expect(written).toEqual([id, small, large])
})

test('a write fails when its service recorded no id of an object with a field', async () => {
  const { write, written } = writeWithFields([1])
  const work = async () => write.resultsIn('variants', [newId()])
  await expect(write.once(transactionsInMemory, work)).rejects.toThrow(
    'the write recorded no id of variants[1]'
  )
  expect(written).toEqual([])
})
