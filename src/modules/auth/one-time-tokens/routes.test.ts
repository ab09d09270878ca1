import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, NEW_PASSWORD, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { dyingBehindCommit } from '../../../../test/support/dying.ts'
import { testKey } from '../../../../test/support/secrets.ts'
import { newId } from '../../../kernel/ids.ts'
import { createSecretsFromKeys } from '../../../platform/secrets/secrets.ts'
import { createOneTimeTokenCodec } from './tokens.ts'

const ANOTHER_PASSWORD = 'thirteen lives and a drum'
const PATIENCE = { timeout: 60_000 }

let shop: Accounts
beforeAll(async () => {
  shop = await openAccounts()
})
afterAll(() => shop.close())

const verify = (token: string) => shop.anonymous.post('/api/auth/verify', { token })
const reset = (token: string, password = NEW_PASSWORD) =>
  shop.anonymous.post('/api/auth/reset', { token, password })
const forgot = (email: string) => shop.anonymous.post('/api/auth/forgot', { email })
const isVerified = async ({ token }: { token: string }) =>
  (await shop.as({ token }).get('/api/auth/me')).json.email_verified
const tokenOf = async (userId: string, purpose: 'email' | 'password') =>
  (await shop.sentTo(userId, purpose))?.token ?? ''
/** Returns the response and its statements. Events are written with the commit. */
async function recorded<T>(work: () => Promise<T>) {
  const { result, statements } = await shop.record(work)
  return { answer: result, did: statements.filter(name => !name.startsWith('outbox.')) }
}
const told = (userId: string, name: string) => expect.poll(() => shop.heardOf(userId, name), PATIENCE)
/** Returns the visible parts of a response. */
const shown = ({ status, json }: Awaited<ReturnType<typeof verify>>) => {
  const { request_id: _, ...body } = json
  return { status, body }
}

describe('the address of an account', () => {
  test('an e-mail address is verified once, by the token that a registration sends', async () => {
    const ada = await shop.register()
    expect(await isVerified(ada)).toBe(false)
    await told(ada.id, 'auth.verification_requested').toHaveLength(1)
    const [payload] = shop.heardOf(ada.id, 'auth.verification_requested')
    const sent = await shop.auth.oneTimeToken(payload?.token_id ?? '')
    expect(sent).toEqual({
      token: expect.stringMatching(/^evt_[\w-]{22}\.test\.[\w-]{43}$/),
      email: ada.email,
      purpose: 'verify_email',
      expiresAt: expect.any(Date)
    })
    expect((await verify(sent?.token ?? '')).status).toBe(204)
    expect(await isVerified(ada)).toBe(true)
    expect((await shop.logIn(ada.email)).json.user.email_verified).toBe(true)
    expect((await verify(sent?.token ?? '')).json.code).toBe('AUTH_ONE_TIME_TOKEN_INVALID')
    expect(await shop.auth.oneTimeToken(payload?.token_id ?? '')).toBeUndefined()
    const again = await ada.post('/api/auth/verification')
    expect([again.status, again.json.code]).toEqual([409, 'AUTH_EMAIL_VERIFIED'])
  })

  test('a new verification token is sent on request, replaces the former one, and is limited per hour', async () => {
    const ada = await shop.register()
    const first = await tokenOf(ada.id, 'email')
    const again = await ada.post('/api/auth/verification')
    expect([again.status, again.json]).toEqual([202, { expires_in: 172_800 }])
    expect((await verify(first)).status).toBe(400)
    expect(await isVerified(ada)).toBe(false)
    for (let times = 0; times < 3; times += 1) await ada.post('/api/auth/verification')
    const latest = await tokenOf(ada.id, 'email')
    const refused = await ada.post('/api/auth/verification')
    expect([refused.status, refused.json.code]).toEqual([429, 'AUTH_TOO_MANY_MESSAGES'])
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await verify(latest)).status).toBe(204)
  })

  test('twenty simultaneous uses of one token verify an e-mail address once', async () => {
    const ada = await shop.register()
    const token = await tokenOf(ada.id, 'email')
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(19).fill(400)])
  })

  test('an e-mail address changes when the new one is verified, and the former one is kept for a notification', async () => {
    const ada = await shop.register()
    const email = shop.newEmail()
    const asked = await ada.post('/api/auth/email', { email: email.toUpperCase(), password: PASSWORD })
    expect([asked.status, asked.json]).toEqual([202, { expires_in: 172_800 }])
    expect((await ada.get('/api/auth/me')).json.email).toBe(ada.email)
    await forgot(ada.email)
    const sentToOld = await tokenOf(ada.id, 'password')
    expect(await shop.sentTo(ada.id, 'email')).toMatchObject({ email, purpose: 'change_email' })

    expect((await verify(await tokenOf(ada.id, 'email'))).status).toBe(204)
    expect((await ada.get('/api/auth/me')).json).toMatchObject({ email, email_verified: true })
    expect([(await shop.logIn(email)).status, (await shop.logIn(ada.email)).status]).toEqual([200, 401])
    await told(ada.id, 'auth.email_changed').toHaveLength(1)
    expect(await shop.auth.contacts([ada.id])).toMatchObject([{ email, formerEmail: ada.email }])
    // A token that the old address received no longer resets the password.
    expect((await reset(sentToOld)).status).toBe(400)
  })

  test('an e-mail address is not changed without the password, and a change to the current one cancels a pending one', async () => {
    const ada = await shop.register()
    const email = shop.newEmail()
    const wrong = await ada.post('/api/auth/email', { email, password: 'not the right one' })
    expect([wrong.status, wrong.json.code, wrong.json.errors[0].path]).toEqual([
      401,
      'AUTH_INVALID_CREDENTIALS',
      'body/password'
    ])
    await ada.post('/api/auth/email', { email, password: PASSWORD })
    const token = await tokenOf(ada.id, 'email')
    await ada.post('/api/auth/email', { email: ada.email, password: PASSWORD })
    expect((await verify(token)).status).toBe(400)
    const nonsense = await ada.post('/api/auth/email', { email: 'nonsense', password: PASSWORD })
    expect([nonsense.status, nonsense.json.code]).toEqual([400, 'AUTH_EMAIL_INVALID'])
  })

  test('changing to the e-mail address of another account gets the same response, and no token is mailed', async () => {
    const [ada, bob, eve] = await Promise.all([shop.register(), shop.register(), shop.register()])
    const asked = async (email: string) => {
      await ada.get('/api/auth/me')
      return recorded(async () => shown(await ada.post('/api/auth/email', { email, password: PASSWORD })))
    }
    expect(await asked(bob.email)).toEqual(await asked(shop.newEmail()))
    const waits = await tokenOf(ada.id, 'email')
    await ada.post('/api/auth/email', { email: eve.email, password: PASSWORD })
    expect((await ada.post('/api/auth/verification')).status).toBe(202)
    expect((await verify(waits)).status).toBe(400)
    // Two events: for the registration and the free address. The taken address adds none.
    await told(ada.id, 'auth.verification_requested').toHaveLength(2)
    expect((await ada.get('/api/auth/me')).json.email).toBe(ada.email)
  })

  test.each(['changed', 'forgotten'])(
    'an e-mail change requested with the old password has no effect after the password was %s',
    async how => {
      const ada = await shop.register()
      const changes = () => ada.post('/api/auth/email', { email: shop.newEmail(), password: PASSWORD })
      await changes()
      const waits = await tokenOf(ada.id, 'email')
      await forgot(ada.email)
      const [replaced, late] = await Promise.all([
        how === 'changed'
          ? ada.post('/api/auth/password', { current_password: PASSWORD, new_password: NEW_PASSWORD })
          : reset(await tokenOf(ada.id, 'password')),
        // This request uses the old password and runs before or after the replacement.
        changes()
      ])
      expect(replaced.status).toBe(204)
      expect([202, 401]).toContain(late.status)
      expect((await verify(waits)).status).toBe(400)
      expect(await shop.sentTo(ada.id, 'email')).toBeUndefined()
      expect((await shop.logIn(ada.email, NEW_PASSWORD)).status).toBe(200)
    }
  )

  test('a verification token that was sent before a password change still verifies the e-mail address', async () => {
    const ada = await shop.register()
    const token = await tokenOf(ada.id, 'email')
    await ada.post('/api/auth/password', { current_password: PASSWORD, new_password: NEW_PASSWORD })
    expect((await verify(token)).status).toBe(204)
  })

  test('an e-mail address that another account registers before it is verified stays with that account', async () => {
    const ada = await shop.register()
    const email = shop.newEmail()
    await ada.post('/api/auth/email', { email, password: PASSWORD })
    const token = await tokenOf(ada.id, 'email')
    await shop.register({ email })
    const answer = await verify(token)
    expect([answer.status, answer.json.code]).toEqual([409, 'AUTH_EMAIL_TAKEN'])
    expect((await ada.get('/api/auth/me')).json.email).toBe(ada.email)
  })
})

describe('a forgotten password', () => {
  test('a forgotten password is replaced with a mailed token, which ends all sessions', async () => {
    const ada = await shop.register()
    const asked = await forgot(` ${ada.email.toUpperCase()}`)
    expect([asked.status, asked.json]).toEqual([202, { expires_in: 3_600 }])
    await told(ada.id, 'auth.password_reset_requested').toHaveLength(1)
    const token = await tokenOf(ada.id, 'password')
    const weak = await reset(token, 'short')
    expect([weak.status, weak.json.code]).toEqual([400, 'AUTH_PASSWORD_TOO_WEAK'])
    expect((await reset(token)).status).toBe(204)
    expect((await ada.get('/api/auth/me')).status).toBe(401)
    expect([
      (await shop.logIn(ada.email)).status,
      (await shop.logIn(ada.email, NEW_PASSWORD)).status
    ]).toEqual([401, 200])
    await told(ada.id, 'auth.password_changed').toHaveLength(1)
    // The reset proves access to the e-mail address.
    expect((await shop.auth.contacts([ada.id]))[0]?.emailVerified).toBe(true)
    expect((await reset(token, ANOTHER_PASSWORD)).status).toBe(400)
  })

  test('a forgotten-password request gets the same response and statements, whether or not the account exists', async () => {
    const [ada, gone] = await Promise.all([shop.register(), shop.register()])
    await shop.auth.setDisabled(gone.email, true)
    const asked = async (email: string) => {
      const { answer, did } = await recorded(() => forgot(email))
      return { ...shown(answer), headers: Object.keys(answer.headers).sort(), did }
    }
    const known = await asked(ada.email)
    expect(known.status).toBe(202)
    for (const email of [shop.newEmail(), gone.email, 'not an address', 'ада@example.com'])
      expect(await asked(email)).toEqual(known)
    expect(await shop.sentTo(gone.id, 'password')).toBeUndefined()
  })

  test('a user can reset a forgotten password although another user exhausts the message limit with the address', async () => {
    const [ada, eve] = await Promise.all([shop.register(), shop.register()])
    const asked = []
    for (let times = 0; times < 6; times += 1)
      asked.push((await eve.post('/api/auth/email', { email: ada.email, password: PASSWORD })).status)
    expect(asked.at(-1)).toBe(429)
    await forgot(ada.email)
    expect((await reset(await tokenOf(ada.id, 'password'))).status).toBe(204)
  })

  test('at the hourly limit of reset mails, the response is the same and the latest reset token stays valid', async () => {
    const ada = await shop.register()
    for (let times = 0; times < 5; times += 1) await forgot(ada.email)
    const latest = await tokenOf(ada.id, 'password')
    expect(shown(await forgot(ada.email))).toEqual(shown(await forgot(shop.newEmail())))
    expect(await tokenOf(ada.id, 'password')).toBe(latest)
    expect((await reset(latest)).status).toBe(204)
  })

  test('twenty simultaneous uses of one token reset a forgotten password once', async () => {
    const ada = await shop.register()
    await forgot(ada.email)
    const token = await tokenOf(ada.id, 'password')
    const passwords = Array.from({ length: 20 }, (_, index) => `${NEW_PASSWORD} ${index}`)
    const answers = await Promise.all(passwords.map(password => reset(token, password)))
    const isDone = ({ status }: { status: number }) => status === 204
    expect(answers.filter(isDone)).toHaveLength(1)
    // Hashing slots are limited: a request without a slot gets 503 and does not use the token.
    expect(answers.every(({ status }) => [204, 400, 503].includes(status))).toBe(true)
    const winner = passwords[answers.findIndex(isDone)] ?? ''
    expect((await shop.logIn(ada.email, winner)).status).toBe(200)
  })

  test('a reset token is invalid after its owner changed the password or was disabled', async () => {
    const ada = await shop.register()
    await forgot(ada.email)
    const token = await tokenOf(ada.id, 'password')
    await ada.post('/api/auth/password', { current_password: PASSWORD, new_password: NEW_PASSWORD })
    expect((await reset(token, ANOTHER_PASSWORD)).status).toBe(400)
    await forgot(ada.email)
    const next = await tokenOf(ada.id, 'password')
    await shop.auth.setDisabled(ada.email, true)
    expect(await shop.sentTo(ada.id, 'password')).toBeUndefined()
    expect((await reset(next, ANOTHER_PASSWORD)).status).toBe(400)
  })
})

test('every invalid one-time token gets the same response', async () => {
  const [ada, bob] = await Promise.all([shop.register(), shop.register()])
  const used = await tokenOf(ada.id, 'email')
  await verify(used)
  const superseded = await tokenOf(bob.id, 'email')
  await bob.post('/api/auth/verification')
  const latest = await tokenOf(bob.id, 'email')
  await forgot(bob.email)
  const ofOther = await tokenOf(bob.id, 'password')
  const [row] = await shop.sql('select id from auth.one_time_tokens where user_id = $1 and purpose = $2', [
    bob.id,
    'email'
  ])
  const ofOldSecret = createOneTimeTokenCodec(createSecretsFromKeys([testKey('test', 'z')])).textOf(
    'email',
    String(row?.id)
  )
  const ofNobody = createOneTimeTokenCodec(createSecretsFromKeys([testKey('test')])).textOf('email', newId())
  const wrong = [used, superseded, ofOther, ofOldSecret, ofNobody, latest.slice(0, -1), `${latest}A`, 'x']
  const answers: ReturnType<typeof shown>[] = []
  for (const token of wrong) answers.push(shown(await verify(token)))
  await shop.sql(`update auth.one_time_tokens set expires_at = now() where user_id = $1`, [bob.id])
  answers.push(shown(await verify(latest)))
  for (const token of [ofOther, latest, used]) answers.push(shown(await reset(token)))
  expect(answers[0]).toMatchObject({ status: 400, body: { code: 'AUTH_ONE_TIME_TOKEN_INVALID' } })
  expect(answers).toEqual(answers.map(() => answers[0]))
  expect(await isVerified(bob)).toBe(false)
})

test("a retry of a one-time token's use after a lost response returns the first response", async () => {
  const ada = await shop.register()
  const repeated = (url: string, body: object, token?: string) => {
    const options = { body, headers: { 'idempotency-key': newId() }, ...(token && { token }) }
    return () => shop.request('POST', url, options)
  }
  const lost = async (request: ReturnType<typeof repeated>) => {
    const first = await dyingBehindCommit(shop, request)
    const again = await request()
    expect([again.status, again.text]).toEqual([first.status, first.text])
    return again.status
  }
  const email = shop.newEmail()
  expect(await lost(repeated('/api/auth/email', { email, password: PASSWORD }, ada.token))).toBe(202)
  expect(await lost(repeated('/api/auth/verification', {}, ada.token))).toBe(202)
  const sent = await tokenOf(ada.id, 'email')
  expect(await lost(repeated('/api/auth/verify', { token: sent }))).toBe(204)
  expect(await lost(repeated('/api/auth/forgot', { email }))).toBe(202)
  const token = await tokenOf(ada.id, 'password')
  expect(await lost(repeated('/api/auth/reset', { token, password: NEW_PASSWORD }))).toBe(204)
})

test('tables, events and logs never contain a one-time token', async () => {
  const ada = await shop.register()
  await forgot(ada.email)
  const tokens = [await tokenOf(ada.id, 'email'), await tokenOf(ada.id, 'password')]
  await verify(tokens[0] ?? '')
  await reset(tokens[1] ?? '')
  const stored = await shop.sql(`select t::text from auth.one_time_tokens t
    union all select k::text from cartwright.idempotency_keys k union all select j::text from cartwright.jobs j`)
  const everything = [...shop.log, JSON.stringify(shop.heard), JSON.stringify(stored)].join('\n')
  for (const token of tokens) expect(everything).not.toContain(token.slice(-43))
  for (const token of tokens) expect(everything).not.toContain(token.slice(4, 26))
})

test('e-mail verification and e-mail changes are requested with a valid access token only', async () => {
  const ada = await shop.register()
  await ada.post('/api/auth/logout')
  for (const caller of [ada, shop.anonymous])
    for (const path of ['/api/auth/verification', '/api/auth/email'])
      expect((await caller.post(path, { email: shop.newEmail(), password: PASSWORD })).status).toBe(401)
})
