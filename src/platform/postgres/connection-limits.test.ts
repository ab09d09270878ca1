import { expect, test } from 'vitest'
import { useTestDatabase } from '../../../test/support/database.ts'
import {
  describeConnectionShortage,
  findConnectionLimits,
  processConnectionsMax
} from './connection-limits.ts'

const sizes = { poolSize: 8, sharedConnections: 2, writeConnections: 4, slowConnections: 4 }

test('a process with the default pool sizes opens up to 27 database connections, and 29 with a diagnostics port', () => {
  expect([processConnectionsMax(sizes, false), processConnectionsMax(sizes, true)]).toEqual([27, 29])
})

test.each([
  [{ server: 97, role: -1, database: -1 }, undefined],
  [{ server: 27, role: 27, database: 27 }, undefined],
  [{ server: 97, role: 8, database: 20 }, /up to 27 .* its role may have .* 8\.$/],
  [{ server: 97, role: -1, database: 20 }, /up to 27 .* its database may have .* 20\.$/],
  [{ server: 26, role: -1, database: -1 }, /up to 27 .* the server accepts .* 26\.$/]
])('the lowest of the connection limits %j is reported when it is too low', (limits, sentence) => {
  const said = describeConnectionShortage(27, limits)
  if (sentence === undefined) expect(said).toBeUndefined()
  else expect(said).toMatch(sentence)
})

test('the connections of all workers of a command are compared with the limits', () => {
  const limits = { server: 97, role: -1, database: -1 }
  expect(describeConnectionShortage(27, limits, 3)).toBeUndefined()
  expect(describeConnectionShortage(27, limits, 4)).toMatch(/^The 4 workers open up to 108 /)
})

test('connection limits are read for the server, the role and the database', async () => {
  const db = await useTestDatabase()
  const [limits] = await db.rows(findConnectionLimits)
  expect(limits).toEqual({ server: expect.any(Number), role: -1, database: -1 })
  expect(limits?.server).toBeGreaterThan(10)
})
