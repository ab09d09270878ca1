import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../../test/support/database.ts'
import { INDEX_SCAN_SETTINGS } from './claims.ts'
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
