import { expect, test } from 'vitest'
import { faults } from './faults.ts'
import { runFaults } from './run.ts'

// Lane long: it takes 14 seconds. src/platform/postgres/faults.test.ts breaks connections without load.

/** The fault that revealed the most bugs. `npm run faults:network` plants all. */
const FAULT = 'database: connection reset behind COMMIT'

test('a shop keeps its guarantees when connections to the database are reset behind COMMIT', async () => {
  const chosen = faults.filter(({ name }) => name === FAULT)
  expect(chosen).toHaveLength(1)
  const results = await runFaults(1, chosen)
  expect(results.flatMap(({ broken }) => broken)).toEqual([])
})
