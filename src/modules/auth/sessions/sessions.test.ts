import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../../test/support/app.ts'
import { testKey } from '../../../../test/support/secrets.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { authModule } from '../index.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import * as repository from './repository.ts'

const PASSWORD = 'nine lives and a piano'
const ABSENT = '01890000-0000-7000-8000-000000000000'

let app: TestApp
let people = 0

beforeAll(async () => {
  app = await createTestApp({ CARTWRIGHT__AUTH__PASSWORD_HASH_CONCURRENCY: '4' })
})
afterAll(() => app.close())

async function signIn() {
  const email = `holder${++people}@example.com`
  const { json } = await app.request('POST', '/api/auth/register', { body: { email, password: PASSWORD } })
  return { ...json, email } as {
    email: string
    user: { id: string }
    access_token: string
    refresh_token: string
  }
}
const again = async (email: string) =>
  (await app.request('POST', '/api/auth/login', { body: { email, password: PASSWORD } })).json
const refresh = (refresh_token: unknown) =>
  app.request('POST', '/api/auth/refresh', { body: { refresh_token } })
const sessionsOf = async (token: string, query = '') =>
  (await app.request('GET', `/api/auth/sessions${query}`, { token })).json
const sql = (text: string, values: unknown[] = []) => runSql(app.databaseUrl, text, values)

describe('a refresh token', () => {
  test('a refresh token is exchanged for new valid tokens', async () => {
    const { refresh_token } = await signIn()
    const answer = await refresh(refresh_token)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^rt_[\w-]{64}\.test\.[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 900
    })
    expect(answer.json.refresh_token).not.toBe(refresh_token)
    expect((await app.request('GET', '/api/auth/me', { token: answer.json.access_token })).status).toBe(200)
    expect((await refresh(answer.json.refresh_token)).status).toBe(200)
  })

  test('a refresh token used twenty times simultaneously gets one successor, and the session continues', async () => {
    const { refresh_token, user } = await signIn()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)))
    expect(answers.map(each => each.status)).toEqual(Array(20).fill(200))
    const successors = new Set(answers.map(each => each.json.refresh_token))
    expect(successors.size).toBe(1)
    expect((await refresh([...successors][0])).status).toBe(200)
    expect(await sql('select id from auth.sessions where user_id = $1', [user.id])).toHaveLength(1)
  })

  test('a refresh token reused within 20 seconds gets the same successor, and later ends its session', async () => {
    const { refresh_token, user } = await signIn()
    const first = await refresh(refresh_token)
    const age = (seconds: number) =>
      sql(`update auth.sessions set rotated_at = now() - make_interval(secs => $2) where user_id = $1`, [
        user.id,
        seconds
      ])
    await age(18)
    expect((await refresh(refresh_token)).json.refresh_token).toBe(first.json.refresh_token)
    await age(20)
    const late = await refresh(refresh_token)
    expect(late.status).toBe(401)
    expect(late.json.code).toBe('AUTH_INVALID_REFRESH_TOKEN')
    expect(late.headers['www-authenticate']).toBe('Bearer')
    expect((await refresh(first.json.refresh_token)).status).toBe(401)
    expect((await app.request('GET', '/api/auth/me', { token: first.json.access_token })).status).toBe(401)
  })

  test('a refresh token older than the previous one ends its session immediately', async () => {
    for (const rotations of [2, 5]) {
      const { refresh_token } = await signIn()
      let latest = refresh_token
      for (let turn = 0; turn < rotations; turn += 1) latest = (await refresh(latest)).json.refresh_token
      expect((await refresh(refresh_token)).status).toBe(401)
      expect((await refresh(latest)).status).toBe(401)
    }
  })

  test('a refresh token that is forged for an existing session ends no session', async () => {
    const { refresh_token } = await signIn()
    const { refresh_token: next } = (await refresh(refresh_token)).json
    const [body = '', proof] = refresh_token.slice(3).split(/\.(.*)/s)
    const other = `${body.slice(0, -1)}${body.endsWith('A') ? 'B' : 'A'}`
    expect((await refresh(`rt_${other}.${proof}`)).status).toBe(401)
    expect((await refresh(next)).status).toBe(200)
  })

  test('a refresh leaves only the hash of the latest refresh token', async () => {
    const { refresh_token, user } = await signIn()
    let latest = refresh_token
    for (let turn = 0; turn < 10; turn += 1) latest = (await refresh(latest)).json.refresh_token
    const rows = await sql('select token_hash, previous_hash from auth.sessions where user_id = $1', [
      user.id
    ])
    expect(rows).toHaveLength(1)
    expect(rows[0]?.token_hash).toEqual(hashSecret(latest))
  })

  test('the reuse of a refresh token stolen from one session ends no other session of its user', async () => {
    const { email, refresh_token } = await signIn()
    const other = await again(email)
    const next = (await refresh(refresh_token)).json
    await refresh(next.refresh_token)
    expect((await refresh(refresh_token)).status).toBe(401)
    expect((await refresh(other.refresh_token)).status).toBe(200)
  })

  test('a refresh token that a thief uses during refreshes, a log-out and a log-in ends up invalid', async () => {
    const { email, access_token, refresh_token } = await signIn()
    const next = (await refresh(refresh_token)).json
    const storm = await Promise.all([
      ...Array.from({ length: 8 }, () => refresh(refresh_token)),
      ...Array.from({ length: 8 }, () => refresh(next.refresh_token)),
      app.request('POST', '/api/auth/logout', { token: access_token }),
      again(email)
    ])
    const statuses = storm.slice(0, 17).map(each => each.status)
    expect(statuses.filter(status => ![200, 204, 401].includes(status))).toEqual([])
    expect((await refresh(next.refresh_token)).status).toBe(401)
  })

  test.each([
    [
      'a week without use',
      `update auth.sessions set last_used_at = now() - interval '7 days' where user_id = $1`
    ],
    ['thirty days', 'update auth.sessions set expires_at = now() where user_id = $1']
  ])('a refresh token expires after %s', async (_when, change) => {
    const { refresh_token, user } = await signIn()
    await sql(change, [user.id])
    const answer = await refresh(refresh_token)
    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('AUTH_INVALID_REFRESH_TOKEN')
  })

  test('each use of a refresh token extends its session, up to the absolute expiry', async () => {
    const { refresh_token, user } = await signIn()
    await sql(
      `update auth.sessions set last_used_at = now() - interval '6 days 23 hours' where user_id = $1`,
      [user.id]
    )
    const answer = await refresh(refresh_token)
    expect(answer.status).toBe(200)
    const [row] = await sql(
      `select last_used_at > now() - interval '1 minute' as renewed, expires_at < now() + interval '30 days' as bounded
       from auth.sessions where user_id = $1`,
      [user.id]
    )
    expect(row).toEqual({ renewed: true, bounded: true })
  })

  test.each([
    ['unknown', 'rt_AVI_OqoB3TsmHGK_tGY_i6Xv7vWdiP1KOC5DYS0ekhU', 401],
    ['only the prefix', 'rt_', 401],
    ['blank', ' ', 401],
    ['the word null', 'null', 401],
    ['empty', '', 400],
    ['null', null, 400],
    ['a number', 0, 400],
    ['a list', ['rt_'], 400],
    ['an object', {}, 400],
    ['huge', 'rt_'.padEnd(10_000, 'a'), 413],
    ['with NUL', 'rt_\u0000', 400]
  ])('a refresh token that is %s is rejected', async (_what, token, status) => {
    expect((await refresh(token)).status).toBe(status)
  })

  test('an access token is rejected as a refresh token', async () => {
    const { access_token } = await signIn()
    expect((await refresh(access_token)).status).toBe(400)
  })

  test('a refresh token issued under a replaced secret is still valid, also when it is reused', async () => {
    const { refresh_token } = await signIn()
    const keys = JSON.stringify([testKey('fresh'), testKey('test')])
    const restarted = await createTestApp({ CARTWRIGHT__SECRETS__KEYS: keys }, app.databaseUrl)
    onTestFinished(() => restarted.close())
    const { refresh_token: next } = (await refresh(refresh_token)).json
    const body = { refresh_token }
    const same = await restarted.request('POST', '/api/auth/refresh', { body })
    expect(same.json.refresh_token).toBe(next)
    const fresh = await restarted.request('POST', '/api/auth/refresh', { body: { refresh_token: next } })
    expect(fresh.json.refresh_token).toMatch(/\.fresh\./)
  })

  test('a refresh token is stored only as a hash', async () => {
    const { refresh_token } = await signIn()
    const { refresh_token: next } = (await refresh(refresh_token)).json
    const rows = await sql('select s::text as text from auth.sessions s')
    for (const token of [refresh_token, next])
      expect(JSON.stringify(rows)).not.toContain(
        Buffer.from(token.slice(3, 67), 'base64url').toString('hex', 16)
      )
    const hash = hashSecret(next)
    expect(await sql('select id from auth.sessions where token_hash = $1', [hash])).toHaveLength(1)
  })
})

describe('sessions', () => {
  test('sessions are listed page by page, newest first, with the current one marked', async () => {
    const { email, access_token } = await signIn()
    await again(email)
    await again(email)
    const all = await sessionsOf(access_token)
    expect(all.items.map((each: { current: boolean }) => each.current)).toEqual([false, false, true])
    const first = await sessionsOf(access_token, '?limit=2&count=true')
    expect(first.total).toBe(3)
    const second = await sessionsOf(access_token, `?limit=2&cursor=${first.next_cursor}`)
    expect([...first.items, ...second.items]).toEqual(all.items)
    expect(second.next_cursor).toBeNull()
  })

  test.each([
    ['a word', 'nonsense'],
    ['a number', Buffer.from('[7]').toString('base64url')],
    ['text that is no id', Buffer.from('["x"]').toString('base64url')],
    ['nothing', Buffer.from('[""]').toString('base64url')]
  ])('the cursor of a session list that is %s is rejected', async (_what, cursor) => {
    const { access_token } = await signIn()
    const answer = await app.request('GET', `/api/auth/sessions?cursor=${cursor}`, { token: access_token })
    expect(answer.status).toBe(400)
  })

  test('a user can end one session from another session', async () => {
    const { email, access_token } = await signIn()
    const other = await again(email)
    const { items } = await sessionsOf(access_token)
    const url = `/api/auth/sessions/${items.find((each: { current: boolean }) => !each.current).id}`
    expect((await app.request('DELETE', url, { token: access_token })).status).toBe(204)
    expect((await app.request('DELETE', url, { token: access_token })).status).toBe(404)
    expect((await refresh(other.refresh_token)).status).toBe(401)
  })

  test('sessions of another user are indistinguishable from missing ones', async () => {
    const [owner, stranger] = [await signIn(), await signIn()]
    const [session] = (await sessionsOf(owner.access_token)).items
    const end = (id: string) =>
      app.request('DELETE', `/api/auth/sessions/${id}`, { token: stranger.access_token })
    const [theirs, absent] = [await end(session.id), await end(ABSENT)]
    expect(theirs.status).toBe(404)
    expect({ ...theirs.json, request_id: '' }).toEqual({ ...absent.json, request_id: '' })
    expect((await refresh(owner.refresh_token)).status).toBe(200)
    expect((await end('not-an-id')).status).toBe(400)
  })

  test('a log-out ends the session of its token, and every access token of that session', async () => {
    const { access_token, refresh_token } = await signIn()
    const fresh = (await refresh(refresh_token)).json
    expect((await app.request('POST', '/api/auth/logout', { token: access_token })).status).toBe(204)
    expect((await refresh(fresh.refresh_token)).status).toBe(401)
    const answer = await app.request('GET', '/api/auth/me', { token: fresh.access_token })
    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('AUTH_INVALID_TOKEN')
  })

  test('no session opens after a password change or a disabled user, or without a newly enrolled second factor', async () => {
    const { user } = await signIn()
    const session = {
      id: ABSENT,
      userId: user.id,
      userAgent: null,
      days: 1,
      tokenHash: hashSecret('rt_x'),
      secondFactor: false
    }
    const [row] = await sql('select password_hash from auth.users where id = $1', [user.id])
    const open = async (passwordHash: string, over: object = {}) =>
      (await app.platform.db.rows(repository.insertSession, { ...session, ...over, passwordHash })).length
    expect(await open('the hash of yesterday')).toBe(0)
    expect(await open('')).toBe(0)
    await sql('update auth.users set disabled_at = now() where id = $1', [user.id])
    expect(await open(row?.password_hash)).toBe(0)
    await sql('update auth.users set disabled_at = null, second_factor_at = now() where id = $1', [user.id])
    expect(await open(row?.password_hash)).toBe(0)
    expect(await open(row?.password_hash, { secondFactor: true })).toBe(1)
  })

  test('expired sessions are deleted, and active ones are kept', async () => {
    const [idle, old, living] = [await signIn(), await signIn(), await signIn()]
    await sql(`update auth.sessions set last_used_at = now() - interval '8 days' where user_id = $1`, [
      idle.user.id
    ])
    await sql('update auth.sessions set expires_at = now() where user_id = $1', [old.user.id])
    const sweep = () => app.platform.db.run(repository.deleteExpiredSessions, { idleDays: 7 })
    expect(await sweep()).toBeGreaterThanOrEqual(2)
    expect(await sweep()).toBe(0)
    expect((await refresh(living.refresh_token)).status).toBe(200)
  })

  test('a verified access token is cached for at most a minute', async () => {
    const { access_token } = await signIn()
    const identity = await app.apiOf(authModule)?.authenticate(access_token)
    expect(identity?.expiresAt).toBeLessThanOrEqual(Date.now() / 1_000 + 60)
  })
})
