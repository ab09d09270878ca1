import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '../../../test/support/app.ts'
import { runSql } from '../../../test/support/sql.ts'
import { sweepEvery } from './sweep.ts'

test('what has expired is deleted, and nothing else', async () => {
  const app = await createTestApp()
  onTestFinished(() => app.close())
  const sql = (text: string) => runSql(app.databaseUrl, text)
  await sql(
    `insert into auth.users (id, role) select gen_random_uuid(), 'customer' from generate_series(1, 2500)`
  )
  await sql(`insert into auth.sessions (id, user_id, expires_at)
             select gen_random_uuid(), id, now() + case when row_number() over () > 1 then interval '0' else '1 day' end
             from auth.users`)
  await sql(`insert into auth.failed_logins (key_hash, failures, started_at)
             values ('a', 1, now() - interval '15 minutes'), ('b', 1, now() - interval '14 minutes')`)
  await sql(`insert into auth.invitations (id, code_hash, expires_at)
             values (gen_random_uuid(), 'a', now() - interval '30 days'), (gen_random_uuid(), 'b', now())`)

  const works = new Map<string, () => Promise<number>>()
  const jobs = {
    every: () => {},
    stop: async () => {},
    sweep: (_seconds: number, name: string, work: () => Promise<number>) => void works.set(name, work)
  }
  sweepEvery(jobs, app.platform.db, app.platform.config.auth)
  const counts = await Promise.all([...works].map(async ([name, work]) => [name, await work()]))
  expect(Object.fromEntries(counts)).toEqual({
    'auth.sessions': 1_000,
    'auth.failed_logins': 1,
    'auth.invitations': 1
  })
  await works.get('auth.sessions')?.()
  await works.get('auth.sessions')?.()
  expect(await sql('select id from auth.sessions')).toHaveLength(1)
})
