import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../test/support/app.ts'
import { dyingBehindCommit } from '../../../test/support/dying.ts'
import { runSql } from '../../../test/support/sql.ts'
import { newId } from '../../kernel/ids.ts'
import { authModule } from './index.ts'

const PASSWORD = 'nine lives and a piano'
const NEW_PASSWORD = 'eleven lives and a cello'

let app: TestApp
let adminToken: string
let people = 0

beforeAll(async () => {
  app = await createTestApp({ CARTWRIGHT__AUTH__PASSWORD_HASH_CONCURRENCY: '4' })
  const boss = { email: 'boss@example.com', password: PASSWORD }
  await app.apiOf(authModule)?.createUser({ ...boss, role: 'admin' })
  adminToken = (await app.request('POST', '/api/auth/login', { body: boss })).json.access_token
})
afterAll(() => app.close())

const sql = (text: string, values: unknown[] = []) => runSql(app.databaseUrl, text, values)
const newAccount = () => ({ email: `person${++people}@example.com`, password: PASSWORD })
const signIn = async () => {
  const body = newAccount()
  return { ...body, ...(await app.request('POST', '/api/auth/register', { body })).json }
}
const sessionsOf = (userId: string) => sql('select id from auth.sessions where user_id = $1', [userId])

/** Returns a function that sends the same request with one idempotency key. */
function repeated(method: string, url: string, options: { token?: string; body?: unknown } = {}) {
  const headers = { 'idempotency-key': newId() }
  return () => app.request(method, url, { ...options, headers })
}

describe('a repeated request with one idempotency key', () => {
  test('a repeated registration with one idempotency key creates one account and opens another session', async () => {
    const register = repeated('POST', '/api/auth/register', { body: newAccount() })
    const [first, again] = [await register(), await register()]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.json.user).toEqual(first.json.user)
    expect(again.json.refresh_token).not.toBe(first.json.refresh_token)
    expect(await sessionsOf(first.json.user.id)).toHaveLength(2)
  })

  test('a repeated registration with one idempotency key is rejected after the password was changed', async () => {
    const body = newAccount()
    const register = repeated('POST', '/api/auth/register', { body })
    const { json } = await register()
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD }
    await app.request('POST', '/api/auth/password', { token: json.access_token, body: change })
    expect((await register()).json.code).toBe('AUTH_INVALID_CREDENTIALS')
  })

  test('a repeated registration by invitation with one idempotency key needs no second invitation', async () => {
    const invited = await createTestApp({ CARTWRIGHT__AUTH__REGISTRATION: 'invite' }, app.databaseUrl)
    try {
      const { code } = (await app.request('POST', '/api/auth/invitations', { token: adminToken, body: {} }))
        .json
      const options = { body: { ...newAccount(), invitation: code }, headers: { 'idempotency-key': newId() } }
      const first = await invited.request('POST', '/api/auth/register', options)
      const again = await invited.request('POST', '/api/auth/register', options)
      expect([first.status, again.status]).toEqual([201, 201])
      expect(again.json.user.id).toBe(first.json.user.id)
    } finally {
      await invited.close()
    }
  })

  test('a repeated log-in with one idempotency key opens another session', async () => {
    const { email, user } = await signIn()
    const logIn = repeated('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
    expect([(await logIn()).status, (await logIn()).status]).toEqual([200, 200])
    expect(await sessionsOf(user.id)).toHaveLength(3)
  })

  test('a repeated refresh with one idempotency key returns the same successor until that is used, then is rejected', async () => {
    const { refresh_token, user } = await signIn()
    const refresh = repeated('POST', '/api/auth/refresh', { body: { refresh_token } })
    const first = await refresh()
    await sql(`update auth.sessions set rotated_at = now() - interval '1 day' where user_id = $1`, [user.id])
    const again = await refresh()
    expect(again.status).toBe(200)
    expect(again.json.refresh_token).toBe(first.json.refresh_token)
    const body = { refresh_token: first.json.refresh_token }
    const next = await app.request('POST', '/api/auth/refresh', { body })
    expect((await refresh()).json.code).toBe('AUTH_INVALID_REFRESH_TOKEN')
    const latest = { refresh_token: next.json.refresh_token }
    expect((await app.request('POST', '/api/auth/refresh', { body: latest })).status).toBe(200)
  })

  test('a repeated request with one idempotency key creates an invitation once and returns its code', async () => {
    const invite = repeated('POST', '/api/auth/invitations', {
      token: adminToken,
      body: { expires_in_days: 3 }
    })
    const [first, again] = [await invite(), await invite()]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.json).toEqual(first.json)
    expect(await sql('select id from auth.invitations where id = $1', [first.json.id])).toHaveLength(1)
  })

  test('a repeated password change with one idempotency key returns the same response and is applied', async () => {
    const { access_token: token, email } = await signIn()
    const body = { current_password: PASSWORD, new_password: NEW_PASSWORD }
    const change = repeated('POST', '/api/auth/password', { token, body })
    expect((await dyingBehindCommit({ sql }, change)).status).toBe(204)
    expect((await change()).status).toBe(204)
    const logIn = await app.request('POST', '/api/auth/login', { body: { email, password: NEW_PASSWORD } })
    expect(logIn.status).toBe(200)
  })

  test('a repeated name change, session end or invitation withdrawal with one key returns the first response', async () => {
    const { access_token: token, email } = await signIn()
    const rename = repeated('PATCH', '/api/auth/me', { token, body: { name: 'Ada' } })
    expect((await dyingBehindCommit({ sql }, rename)).json.name).toBe('Ada')
    expect((await rename()).json.name).toBe('Ada')

    await app.request('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
    const { items } = (await app.request('GET', '/api/auth/sessions', { token })).json
    const other = items.find((each: { current: boolean }) => !each.current)
    const end = repeated('DELETE', `/api/auth/sessions/${other.id}`, { token })
    expect((await dyingBehindCommit({ sql }, end)).status).toBe(204)
    expect((await end()).status).toBe(204)

    const { id } = (await app.request('POST', '/api/auth/invitations', { token: adminToken, body: {} })).json
    const withdraw = repeated('DELETE', `/api/auth/invitations/${id}`, { token: adminToken })
    expect((await dyingBehindCommit({ sql }, withdraw)).status).toBe(204)
    expect((await withdraw()).status).toBe(204)
  })
})
