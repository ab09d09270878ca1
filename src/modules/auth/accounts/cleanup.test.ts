import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '../../../../test/support/app.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { deleteExpiredSessions } from '../sessions/repository.ts'
import { scheduleAuthCleanup } from './cleanup.ts'

test('the cleanup of authentication data deletes exactly the expired rows', async () => {
  const app = await createTestApp()
  onTestFinished(() => app.close())
  const sql = (text: string) => runSql(app.databaseUrl, text)
  await sql(
    `insert into auth.users (id, role) select gen_random_uuid(), 'customer' from generate_series(1, 2500)`
  )
  await sql(`insert into auth.sessions (id, user_id, token_hash, expires_at)
             select gen_random_uuid(), id, '', now() + case when row_number() over () > 1 then interval '0' else '1 day' end
             from auth.users`)
  await sql(`insert into auth.login_budgets (key_hash, full_at, turn_at)
             values ('a', now(), null), ('b', now() + interval '1 minute', null), ('c', now(), now()),
               ('d', now(), now() - interval '1 minute')`)
  await sql(`insert into auth.known_networks (user_id, network_hash, seen_at)
             select id, 'a', now() - case when row_number() over () > 1 then interval '89 days' else '90 days' end
             from auth.users limit 2`)
  await sql(`insert into auth.invitations (id, code_hash, expires_at)
             values (gen_random_uuid(), 'a', now() - interval '30 days'), (gen_random_uuid(), 'b', now())`)

  await sql(`insert into auth.one_time_tokens (user_id, purpose, id, email, expires_at)
             select id, 'email', id, 'a', now() + case when row_number() over () > 1 then interval '1 hour' else '0' end
             from auth.users limit 2`)
  await sql(`insert into auth.login_challenges (token_hash, user_id, password_hash, expires_at)
             select uuid_send(id), id, 'a', now() + case when row_number() over () > 1 then interval '1 minute' else '0' end
             from auth.users limit 2`)
  await sql(`update auth.users u set former_email = 'a', email_changed_at = now() - old.age * interval '1 day'
             from (select id, 28 + row_number() over () as age from auth.users limit 2) old where u.id = old.id`)

  const works = new Map<string, () => Promise<number>>()
  const timers = {
    every: () => {},
    stop: async () => {},
    untilEmpty: (_seconds: number, name: string, work: () => Promise<number>) => void works.set(name, work)
  }
  scheduleAuthCleanup(timers, app.platform.db, { session_idle_days: 7 })
  const counts = await Promise.all([...works].map(async ([name, work]) => [name, await work()]))
  expect(Object.fromEntries(counts)).toEqual({
    'auth.sessions': 500,
    'auth.login_budgets': 2,
    'auth.known_networks': 1,
    'auth.invitations': 1,
    'auth.one_time_tokens': 1,
    'auth.login_challenges': 1,
    'auth.former_emails': 1,
    'auth.api_keys': 0
  })
  for (let batch = 0; batch < 4; batch += 1) await works.get('auth.sessions')?.()
  expect(await sql('select id from auth.sessions')).toHaveLength(1)
})

test('the cleanup of sessions finds expired rows by index', async () => {
  const app = await createTestApp()
  onTestFinished(() => app.close())
  const sql = (text: string) => runSql(app.databaseUrl, text)
  await sql(`insert into auth.users (id, role) values ('01890000-0000-7000-8000-000000000000', 'customer')`)
  await sql(`insert into auth.sessions (id, user_id, token_hash, expires_at)
             select gen_random_uuid(), '01890000-0000-7000-8000-000000000000', '', now() + interval '1 day'
             from generate_series(1, 50000)`)
  await sql('analyze auth.sessions')
  const text = deleteExpiredSessions.text.replace('$1', '7')
  const plan = await sql(`explain ${text}`)
  const lines = plan.map(row => row['QUERY PLAN']).join('\n')
  expect(lines).toContain('Index Scan using sessions_expires_at')
  expect(lines).toContain('Index Scan using sessions_last_used_at')
  expect(lines).not.toContain('Seq Scan')
})
