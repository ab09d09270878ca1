import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import type { Log } from '../log.ts'
import type { Database } from '../postgres/database.ts'
import { createOutboxJobClaims, INDEX_SCAN_SETTINGS } from './claims.ts'
import { createRecurringJobSchedule } from './dispatcher.ts'
import { claimJobs } from './job-queries.ts'

/** How a claim goes about a backlog that came since PostgreSQL last looked at the table. */
async function planOfClaim(settings: Readonly<Record<string, string>>): Promise<string> {
  const { url, drop } = await createTestDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await drop()
  })
  await client.query('alter table cartwright.jobs set (autovacuum_enabled = off)')
  await client.query(`
    insert into cartwright.jobs (handler, subject, event_id, payload)
    select 'ear:bell.rang', gen_random_uuid(), gen_random_uuid(), '{}' from generate_series(1, 20000)`)
  for (const [name, value] of Object.entries({ plan_cache_mode: 'force_generic_plan', ...settings }))
    await client.query(`set ${name} = ${value}`)
  await client.query(`prepare planned (text, int8, uuid, float8) as ${claimJobs.text}`)
  const { rows } = await client.query(
    `explain (costs off) execute planned ('ear:bell.rang', 200, gen_random_uuid(), 15)`
  )
  return rows.map(row => row['QUERY PLAN']).join('\n')
}

test('claiming outbox jobs reads them in index order, however many are pending', async () => {
  const plan = await planOfClaim(INDEX_SCAN_SETTINGS)
  expect(plan).toContain('Index Scan using jobs_due')
  expect(plan).not.toMatch(/Sort|Bitmap|Seq Scan/)
  // Without these settings the claim reads and sorts all pending jobs.
  expect(await planOfClaim({})).toContain('Sort')
})

test.each([
  { planned: 2, writes: 0 },
  { planned: 1, writes: 1 }
])(
  'with $planned of 2 schedules planned, claims use their connection $writes times',
  async ({ planned, writes }) => {
    let attempts = 0
    const attempt = async () => {
      attempts += 1
      return { kind: 'done', value: 1 }
    }
    const db = {
      first: async () => ({ total: planned }),
      rows: async () => [],
      dedicated: () => ({ attempt, close: async () => {} })
    } as unknown as Database
    const claims = createOutboxJobClaims(db, {} as Log)
    const schedules = ['bells.wind', 'bells.ring'].map(name => createRecurringJobSchedule(name))
    expect(await claims.ensureSchedules(schedules)).toBe(true)
    expect(await claims.findHandlersWithDueJobs(['bells.wind'])).toEqual([])
    expect(attempts).toBe(writes)
    await claims.close()
  }
)
