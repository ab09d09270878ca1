import { expect, onTestFinished, test, vi } from 'vitest'
import { openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { ADMIN_CLAIM, startIssuer } from '../../../../test/support/issuer.ts'
import { enrol, nextCode } from '../../../../test/support/second-factor.ts'
import { testKey } from '../../../../test/support/secrets.ts'
import { adminModule } from '../../admin/index.ts'

const PATH = '/api/auth/second-factor'
const REQUIRED = { CARTWRIGHT__AUTH__REQUIRE_SECOND_FACTOR: 'true' }
const MISSING = { status: 403, json: { code: 'AUTH_SECOND_FACTOR_MISSING' } }
const TOO_OLD = { status: 403, json: { code: 'AUTH_RECENT_LOGIN_REQUIRED', max_age_seconds: 300 } }

async function useAccounts(settings: Record<string, string> = {}) {
  const shop = await openAccounts(settings, [adminModule])
  onTestFinished(() => shop.close())
  const answer = (challenge: string, code: string) =>
    shop.anonymous.post('/api/auth/login/second-factor', { challenge, code })
  return { ...shop, answer }
}
/** Ages the log-ins of an account; the identity of a token that was used before is remembered for up to a minute. */
const age = (
  { sql }: { sql: (text: string, values: unknown[]) => Promise<unknown> },
  id: string,
  seconds: number
) =>
  sql(`update auth.sessions set created_at = now() - make_interval(secs => $2) where user_id = $1`, [
    id,
    seconds
  ])

test('an administrator without a required second factor can use only the routes that enrol one', async () => {
  const shop = await useAccounts(REQUIRED)
  const ada = await shop.newAdmin()
  for (const path of ['/api/auth/me', '/api/auth/sessions', '/api/auth/api-keys', '/api/admin/users'])
    expect(await ada.get(path), path).toMatchObject(MISSING)
  for (const path of ['/api/auth/logout', '/api/auth/api-keys', '/api/auth/password', '/api/auth/email'])
    expect(await ada.post(path, {}), path).toMatchObject(MISSING)
  for (const closed of [ada.delete(PATH), ada.post(`${PATH}/recovery-codes`)])
    expect(await closed).toMatchObject(MISSING)
  expect(await ada.get(PATH)).toMatchObject({ status: 200, json: { enrolled_at: null, is_required: true } })
  const { secret } = await enrol(ada)
  expect((await ada.get('/api/admin/users')).status).toBe(200)
  const { challenge } = (await shop.logIn(ada.email)).json
  const { json } = await shop.answer(challenge, nextCode(secret))
  const fresh = shop.as({ token: json.access_token })
  expect((await fresh.get('/api/admin/users')).status).toBe(200)
  const { refresh_token } = json
  const refreshed = (await shop.anonymous.post('/api/auth/refresh', { refresh_token })).json
  expect((await shop.as({ token: refreshed.access_token }).get('/api/admin/users')).status).toBe(200)
  expect((await fresh.delete(PATH)).status).toBe(204)
  for (const each of [ada, fresh]) expect(await each.get('/api/admin/users')).toMatchObject(MISSING)
})

test('a required second factor applies to a new administrator immediately, and to no customer or API key', async () => {
  const shop = await useAccounts(REQUIRED)
  const boss = await shop.newAdmin()
  await enrol(boss)
  const ada = await shop.register()
  expect((await ada.get('/api/auth/me')).status).toBe(200)
  expect(
    (await boss.patch(`/api/admin/users/${ada.id}`, { rights: { role: 'admin', scopes: null } })).status
  ).toBe(200)
  expect(await ada.get('/api/auth/me')).toMatchObject(MISSING)
  const { api_key } = (await boss.post('/api/auth/api-keys', { name: 'bot' })).json
  const { access_token } = (await shop.anonymous.post('/api/auth/token', { api_key })).json
  expect((await shop.as({ token: access_token }).get('/api/auth/invitations')).status).toBe(200)
})

test('an external token counts as having a second factor by its acr or amr, and never without these settings', async () => {
  const [strict, silent] = await Promise.all([startIssuer(), startIssuer()])
  onTestFinished(async () => {
    await Promise.all([strict.stop(), silent.stop()])
  })
  const own = { admin_claim: ADMIN_CLAIM }
  const issuers = [
    {
      ...own,
      issuer: strict.issuer,
      audience: strict.audience,
      second_factor: { acr: ['gold'], amr: ['mfa', 'hwk'] }
    },
    { ...own, issuer: silent.issuer, audience: silent.audience }
  ]
  const shop = await useAccounts({ ...REQUIRED, CARTWRIGHT__AUTH__ISSUERS: JSON.stringify(issuers) })
  const roles = { realm_access: { roles: [ADMIN_CLAIM.value] } }
  const statusOf = async (issuer: typeof strict, claims: object) => {
    const token = await issuer.sign({ ...issuer.claims(), ...roles, ...claims })
    return (await shop.as({ token }).get('/api/auth/invitations')).status
  }
  const good = [{ acr: 'gold' }, { amr: ['pwd', 'hwk'] }, { acr: 'silver', amr: ['mfa'] }]
  const bad = [
    {},
    { acr: 'silver' },
    { amr: ['pwd'] },
    { amr: [] },
    { acr: 'mfa' },
    { amr: ['gold'] },
    { acr: 'gold platinum' }
  ]
  for (const claims of good) expect(await statusOf(strict, claims), JSON.stringify(claims)).toBe(200)
  for (const claims of bad) expect(await statusOf(strict, claims), JSON.stringify(claims)).toBe(403)
  for (const claims of good) expect(await statusOf(silent, claims), JSON.stringify(claims)).toBe(403)
  // An external administrator has no password here, so a factor of this shop would never be requested.
  const now = Math.floor(Date.now() / 1_000)
  const token = await silent.sign({ ...silent.claims(), ...roles, auth_time: now })
  expect((await shop.as({ token }).post(PATH)).json.code).toBe('AUTH_SECOND_FACTOR_EXTERNAL')
})

test('changing factors, keys, roles or e-mail address requires that the administrator logged in within five minutes', async () => {
  const shop = await useAccounts()
  const boss = await shop.newAdmin()
  const { secret } = await enrol(boss)
  const { id } = await shop.register()
  const { challenge } = (await shop.logIn(boss.email)).json
  const { json } = await shop.answer(challenge, nextCode(secret))
  const change = { email: shop.newEmail(), password: PASSWORD }
  const attempts = (caller: typeof shop.anonymous) => [
    caller.post('/api/auth/email', change),
    caller.post('/api/auth/api-keys', { name: 'bot' }),
    caller.patch(`/api/admin/users/${id}`, { disabled: false }),
    caller.post(`${PATH}/recovery-codes`),
    caller.delete(PATH)
  ]
  await age(shop, boss.id, 301)
  for (const attempt of attempts(shop.as({ token: json.access_token })))
    expect(await attempt).toMatchObject(TOO_OLD)
  // Refreshed tokens are as old as their log-in.
  const { refresh_token } = json
  const refreshed = (await shop.anonymous.post('/api/auth/refresh', { refresh_token })).json
  for (const attempt of attempts(shop.as({ token: refreshed.access_token })))
    expect(await attempt).toMatchObject(TOO_OLD)
  const { auth_time } = JSON.parse(Buffer.from(refreshed.access_token.split('.')[1], 'base64url').toString())
  expect(Date.now() / 1_000 - auth_time).toBeGreaterThan(300)

  await shop.sql('update auth.second_factors set last_step = 0')
  const again = (await shop.answer((await shop.logIn(boss.email)).json.challenge, nextCode(secret))).json
  const statuses: number[] = []
  const fresh = shop.as({ token: again.access_token })
  for (const send of attempts(fresh).keys())
    statuses.push((await (attempts(fresh)[send] as Promise<{ status: number }>)).status)
  expect(statuses.every(status => status < 300 || status === 409)).toBe(true)
})

test('a customer can change the e-mail address with an old log-in; an administrator needs a recent one to enrol a factor', async () => {
  const shop = await useAccounts()
  const [ada, customer] = [await shop.newAdmin(), await shop.register()]
  await age(shop, customer.id, 3_600)
  await age(shop, ada.id, 301)
  const change = { email: shop.newEmail(), password: PASSWORD }
  expect((await customer.post('/api/auth/email', change)).status).toBe(202)
  expect(await ada.post(PATH)).toMatchObject(TOO_OLD)
  expect(await ada.post(`${PATH}/confirm`, { code: '000000' })).toMatchObject(TOO_OLD)
})

test('an external token counts as a recent log-in only by its auth_time', async () => {
  const issuer = await startIssuer()
  onTestFinished(() => issuer.stop())
  const issuers = [{ issuer: issuer.issuer, audience: issuer.audience, admin_claim: ADMIN_CLAIM }]
  const shop = await useAccounts({ CARTWRIGHT__AUTH__ISSUERS: JSON.stringify(issuers) })
  const now = Math.floor(Date.now() / 1_000)
  const makeKey = async (claims: object) => {
    const roles = { realm_access: { roles: [ADMIN_CLAIM.value] } }
    const token = await issuer.sign({ ...issuer.claims(), ...roles, ...claims })
    return shop.as({ token }).post('/api/auth/api-keys', { name: 'bot' })
  }
  expect((await makeKey({ auth_time: now - 10 })).status).toBe(201)
  for (const auth_time of [undefined, now - 301, now + 3_600, String(now)])
    expect(await makeKey({ auth_time }), String(auth_time)).toMatchObject(TOO_OLD)
})

test('a second factor stays valid after the secret is rotated, and is encrypted with the new one at its next use', async () => {
  const keys = (...ids: string[]) => ({
    CARTWRIGHT__SECRETS__KEYS: JSON.stringify(ids.map(id => testKey(id)))
  })
  const shop = await useAccounts(keys('old'))
  const ada = await shop.newAdmin()
  const { secret, recoveryCodes } = await enrol(ada)
  const keyIds = async () =>
    (
      await shop.sql(
        `select convert_from(substring(sealed from 3 for 3), 'utf8') as id from auth.second_factors`
      )
    ).map(({ id }) => id)
  expect(await keyIds()).toEqual(['old'])
  const { openTestShop } = await import('../../../testing.ts')
  const { authModule } = await import('../index.ts')
  const next = await openTestShop({
    databaseUrl: shop.databaseUrl,
    isMigrated: true,
    runsSchedulesAtStart: false,
    modules: [authModule],
    settings: keys('new', 'old')
  })
  onTestFinished(() => next.close())
  const logIn = async (code: string) => {
    const body = { email: ada.email, password: PASSWORD }
    // One process issues the challenge, and another one verifies the code.
    const { challenge } = (await shop.anonymous.post('/api/auth/login', body)).json
    return (await next.as(null).post('/api/auth/login/second-factor', { challenge, code })).status
  }
  expect(await logIn(nextCode(secret))).toBe(200)
  expect(await keyIds()).toEqual(['new'])
  expect(await logIn(recoveryCodes[0] as string)).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  onTestFinished(() => void vi.useRealTimers())
  expect(await logIn(nextCode(secret))).toBe(200)
})
