import { expect, test } from 'vitest'
import { faults } from './faults.ts'
import { runFaults } from './run.ts'

const REVEALING_FAULTS = [
  'database: connection reset behind COMMIT',
  'cache: black hole both ways, connections lost'
]

test('a shop keeps its guarantees under the network faults that reveal the most bugs', async () => {
  const chosen = faults.filter(({ name }) => REVEALING_FAULTS.includes(name))
  expect(chosen).toHaveLength(REVEALING_FAULTS.length)
  const results = await runFaults(1, chosen)
  expect(results.flatMap(({ fault, broken }) => broken.map(promise => `${fault}: ${promise}`))).toEqual([])
})
