import { expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../../test/support/app.ts'
import { createTestDatabase } from '../../../../test/support/database.ts'
import { openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { authModule } from '../index.ts'

const PASSWORD = 'nine lives and a piano'
const NEW_PASSWORD = 'eleven lives and a cello'

shareShops()

let users = 0

/** Two processes on one database. */
const useProcesses = () =>
  openShared(['two processes'], async onFinished => {
    const database = await createTestDatabase()
    onFinished(database.drop)
    const [here, there] = await Promise.all([
      createTestApp({}, database.url),
      createTestApp({}, database.url)
    ])
    onFinished(() => Promise.all([here.close(), there.close()]))
    return { here, there }
  })

/** The same, and a user whose token both have verified. */
async function useTwo() {
  const { here, there } = await useProcesses()
  const email = `user${++users}@example.com`
  const { json: mine } = await here.request('POST', '/api/auth/register', {
    body: { email, password: PASSWORD }
  })
  const statusAt = async (app: TestApp, token: string = mine.access_token) =>
    (await app.request('GET', '/api/auth/me', { token })).status
  expect([await statusAt(here), await statusAt(there)]).toEqual([200, 200])
  const logIn = async (password = PASSWORD) =>
    (await here.request('POST', '/api/auth/login', { body: { email, password } })).json
  return { here, there, email, mine, statusAt, logIn, auth: here.apiOf(authModule) }
}

/** Returns the milliseconds until the other process rejects the token. */
async function untilRefused(status: () => Promise<number>): Promise<number> {
  const startedAt = performance.now()
  while ((await status()) !== 401) {
    if (performance.now() - startedAt > 10_000) throw new Error('it is believed for ten seconds')
  }
  return performance.now() - startedAt
}

type Two = Awaited<ReturnType<typeof useTwo>>
test.each<[string, (two: Two) => Promise<unknown>]>([
  ['log-out', ({ here, mine }) => here.request('POST', '/api/auth/logout', { token: mine.access_token })],
  [
    'the end of the session by another one',
    async ({ here, logIn }) => {
      const token = (await logIn()).access_token
      const { items } = (await here.request('GET', '/api/auth/sessions', { token })).json
      const other = items.find((each: { current: boolean }) => !each.current)
      return here.request('DELETE', `/api/auth/sessions/${other.id}`, { token })
    }
  ],
  [
    'a change of the password in another session',
    async ({ here, logIn }) => {
      const token = (await logIn()).access_token
      const body = { current_password: PASSWORD, new_password: NEW_PASSWORD }
      return here.request('POST', '/api/auth/password', { token, body })
    }
  ],
  [
    'the use of a stolen refresh token',
    async ({ here, mine }) => {
      const refresh = (refresh_token: string) =>
        here.request('POST', '/api/auth/refresh', { body: { refresh_token } })
      const { refresh_token: next } = (await refresh(mine.refresh_token)).json
      await refresh(next)
      return refresh(mine.refresh_token)
    }
  ],
  ['disabling the user', ({ auth, email }) => auth?.setDisabled(email, true) as Promise<unknown>]
])(
  'after %s the access token is rejected here immediately, and by another process within a second',
  async (_what, end) => {
    const two = await useTwo()
    await end(two)
    expect(await two.statusAt(two.here)).toBe(401)
    expect(await untilRefused(() => two.statusAt(two.there))).toBeLessThan(1_000)
  }
)

test('a password change leaves the session valid in which it was made', async () => {
  const { here, mine, statusAt } = await useTwo()
  const body = { current_password: PASSWORD, new_password: NEW_PASSWORD }
  expect((await here.request('POST', '/api/auth/password', { token: mine.access_token, body })).status).toBe(
    204
  )
  expect(await statusAt(here)).toBe(200)
})

test("a removed role has no effect from the next request on, and the user's session stays valid", async () => {
  const { here, email, mine, auth, statusAt } = await useTwo()
  const invite = async () =>
    (await here.request('POST', '/api/auth/invitations', { token: mine.access_token, body: {} })).status
  expect(await invite()).toBe(403)
  // The last administrator cannot lose the role.
  await auth?.createUser({ email: `boss.of.${email}`, password: PASSWORD, role: 'admin' })
  await auth?.setRole(email, 'admin')
  expect(await invite()).toBe(201)
  await auth?.setRole(email, 'customer')
  expect(await invite()).toBe(403)
  expect(await statusAt(here)).toBe(200)
})

/** The test of access tokens measures the delay of the message, so this wait is long. */
const PATIENCE = { timeout: 60_000, interval: 5 }

/** The same with an administrator; `bot` is a token of their API key. */
async function useTwoOfStaff() {
  const two = await useTwo()
  const { here, there, email, mine, auth } = two
  await auth?.createUser({ email: `boss.of.${email}`, password: PASSWORD, role: 'admin' })
  await auth?.setRole(email, 'admin')
  const asked = { token: mine.access_token, body: { name: 'stock' } }
  const { id, api_key } = (await here.request('POST', '/api/auth/api-keys', asked)).json
  const exchanged = await there.request('POST', '/api/auth/token', { body: { api_key } })
  const bot: string = exchanged.json.access_token
  const invitationsAt = async (app: TestApp, token: string) =>
    (await app.request('GET', '/api/auth/invitations', { token })).status
  for (const token of [mine.access_token, bot]) {
    expect(await invitationsAt(here, token)).toBe(200)
    // The other process learns of the role a moment later.
    await expect.poll(() => invitationsAt(there, token), PATIENCE).toBe(200)
  }
  const revokeKey = () => here.request('DELETE', `/api/auth/api-keys/${id}`, { token: mine.access_token })
  return { ...two, bot, api_key, invitationsAt, revokeKey }
}
type TwoOfStaff = Awaited<ReturnType<typeof useTwoOfStaff>>

test.each<[string, number, number, (two: TwoOfStaff) => Promise<unknown>]>([
  ['a key is revoked', 200, 401, ({ revokeKey }) => revokeKey()],
  ['a scope is removed', 403, 403, async ({ auth, email }) => auth?.setRole(email, 'admin', ['catalog'])],
  ['the role is removed', 403, 401, async ({ auth, email }) => auth?.setRole(email, 'customer')],
  ['the account is disabled', 401, 401, async ({ auth, email }) => auth?.setDisabled(email, true)]
])(
  'when %s, the administrator gets %d and the API key %d, here immediately and in another process soon after',
  async (_what, staff, machine, change) => {
    const two = await useTwoOfStaff()
    const { here, there, mine, bot, invitationsAt } = two
    const both = async (app: TestApp) => [
      await invitationsAt(app, mine.access_token),
      await invitationsAt(app, bot)
    ]
    await change(two)
    expect(await both(here)).toEqual([staff, machine])
    await expect.poll(() => both(there), PATIENCE).toEqual([staff, machine])
  }
)

test('a scope granted to an administrator is effective from the next request on, also for an existing API key', async () => {
  const { here, there, email, mine, bot, auth, invitationsAt } = await useTwoOfStaff()
  await auth?.setRole(email, 'admin', ['catalog'])
  expect(await invitationsAt(here, bot)).toBe(403)
  await auth?.setRole(email, 'admin', ['auth'])
  for (const token of [mine.access_token, bot]) {
    expect(await invitationsAt(here, token)).toBe(200)
    await expect.poll(() => invitationsAt(there, token), PATIENCE).toBe(200)
  }
})

test('a disabled user cannot log in, and an enabled one can, but the old sessions stay ended', async () => {
  const { here, email, mine, auth, logIn } = await useTwo()
  await auth?.setDisabled(email.toUpperCase(), true)
  expect((await logIn()).code).toBe('AUTH_INVALID_CREDENTIALS')
  await auth?.setDisabled(email, false)
  expect((await logIn()).user.email).toBe(email)
  const body = { refresh_token: mine.refresh_token }
  expect((await here.request('POST', '/api/auth/refresh', { body })).status).toBe(401)
  expect(await auth?.setDisabled('unknown@example.com', true)).toBe(false)
})
