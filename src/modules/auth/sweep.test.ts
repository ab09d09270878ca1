import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '../../../test/support/app.ts'
import { runSql } from '../../../test/support/sql.ts'
import { sweepEvery } from './sweep.ts'

type Work = (signal: AbortSignal) => Promise<number>

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

  const works = new Map<string, Work>()
  const every = (_seconds: number, name: string, work: Work) => void works.set(name, work)
  sweepEvery({ every, stop: async () => {} }, app.platform.db, app.platform.config.auth)
  const counts = await Promise.all(
    [...works].map(async ([name, work]) => [name, await work(new AbortController().signal)])
  )
  expect(Object.fromEntries(counts)).toEqual({
    'auth.sessions': 2_499,
    'auth.failed_logins': 1,
    'auth.invitations': 1
  })
  expect(await sql('select id from auth.sessions')).toHaveLength(1)
})
