import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../../../test/support/database.ts'
import { SECRET_SETTINGS } from '../../../test/support/secrets.ts'
import { loadConfig } from '../../config.ts'
import { sumBy } from '../../kernel/sum-by.ts'
import { databaseOptionsFromConfig } from '../platform.ts'
import {
  describeConnectionShortage,
  findConnectionLimits,
  primaryConnectionsMax,
  processConnectionsMax
} from './connection-limits.ts'

test('a process with the default pool sizes opens up to 27 database connections, and 29 with a diagnostics port', () => {
  const { poolSize, sharedConnections, writeConnections, slowConnections } = databaseOptionsFromConfig(
    loadConfig([], SECRET_SETTINGS),
    ''
  )
  const sizes = { poolSize, sharedConnections, writeConnections, slowConnections }
  expect([processConnectionsMax(sizes, false), processConnectionsMax(sizes, true)]).toEqual([27, 29])
  const withReplica = { ...sizes, replica: {} }
  expect([processConnectionsMax(withReplica, false), primaryConnectionsMax(withReplica, false)]).toEqual([
    31, 27
  ])
})

test('the table of connections in the guide adds up to what a process opens, and the example configuration says so', async () => {
  const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const rows = [...(await read('docs/sizing.md')).matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(
    ([, what, count]) => [what, Number(count)] as const
  )
  const end = rows.findIndex(([what]) => what === '**all**')
  expect(rows[end]?.[1]).toBe(27)
  expect(sumBy(rows.slice(0, end), ([, count]) => count)).toBe(27)
  expect(await read('config.example.yaml')).toContain('up to 27 connections')
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
