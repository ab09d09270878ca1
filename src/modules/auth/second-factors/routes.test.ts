import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Accounts, NEW_PASSWORD, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { bytesOfBase32, enrol, nextCode } from '../../../../test/support/second-factor.ts'
import { newId } from '../../../kernel/ids.ts'
import { totpCodeOfTimeStep, totpStepAt } from './totp.ts'

type Person = Awaited<ReturnType<Accounts['newAdmin']>>
const PATH = '/api/auth/second-factor'
let shop: Accounts
beforeAll(async () => {
  shop = await openAccounts({
    CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
    CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '6'
  })
  // The last administrator cannot lose the role.
  await shop.newAdmin()
})
afterAll(() => shop.close())

/** An administrator with a second factor. */
async function enrolled() {
  const admin = await shop.newAdmin()
  return { ...admin, ...(await enrol(admin)) }
}
const from = (network: string) => ({ 'x-forwarded-for': network })
const challengeOf = async (email: string, password = PASSWORD): Promise<string> =>
  (await shop.logIn(email, password)).json.challenge
const answer = (challenge: string, code: string, network = '192.0.2.1') =>
  shop.anonymous.post('/api/auth/login/second-factor', { challenge, code }, from(network))
/** Resets the last accepted step, for tests that do not test it. */
const forgetSteps = (id: string) =>
  shop.sql('update auth.second_factors set last_step = 0 where user_id = $1', [id])
const sessionsOf = (id: string) => shop.sql('select id from auth.sessions where user_id = $1', [id])
const wrongCode = (secret: Buffer): string => {
  const near = [-2, -1, 0, 1, 2, 3].map(steps => nextCode(secret, steps))
  return ['000000', '111111', '222222', '333333', '444444', '555555', '666666'].find(
    code => !near.includes(code)
  ) as string
}
const INVALID = { status: 401, json: { code: 'AUTH_SECOND_FACTOR_INVALID' } }
const ENDED = { status: 401, json: { code: 'AUTH_CHALLENGE_ENDED' } }

describe('enrolling', () => {
  test('enrolling a second factor returns a secret, takes effect with its first code, and ends every other session', async () => {
    const ada = await shop.newAdmin()
    const other = shop.as({ token: (await shop.logIn(ada.email)).json.access_token })
    expect((await ada.get(PATH)).json).toEqual({
      enrolled_at: null,
      recovery_codes_left: 0,
      is_required: false
    })
    const begun = await ada.post(PATH)
    expect([begun.status, begun.headers['cache-control']]).toEqual([200, 'no-store'])
    expect(begun.json.otpauth_uri).toContain(`secret=${begun.json.secret}`)
    const secret = bytesOfBase32(begun.json.secret)
    expect(secret).toHaveLength(20)
    // Until then, a log-in needs no second factor.
    expect((await shop.logIn(ada.email)).status).toBe(200)
    expect(await ada.post(`${PATH}/confirm`, { code: wrongCode(secret) })).toMatchObject({
      status: 400,
      json: { code: 'AUTH_SECOND_FACTOR_CODE_WRONG' }
    })
    const { status, json } = await ada.post(`${PATH}/confirm`, { code: nextCode(secret) })
    expect(status).toBe(200)
    expect(new Set(json.recovery_codes).size).toBe(10)
    for (const code of json.recovery_codes) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    expect((await ada.get(PATH)).json).toMatchObject({
      enrolled_at: expect.any(String),
      recovery_codes_left: 10
    })
    expect((await other.get(PATH)).status).toBe(401)
    const again = { status: 409, json: { code: 'AUTH_SECOND_FACTOR_ENROLLED' } }
    expect(await ada.post(PATH)).toMatchObject(again)
    expect(await ada.post(`${PATH}/confirm`, { code: nextCode(secret) })).toMatchObject(again)
    await expect
      .poll(() => shop.heardOf(ada.id, 'auth.second_factor_changed'))
      .toEqual([{ user_id: ada.id, change: 'enrolled' }])
  })

  test('a repeated enrolment gets the same response, and no secret after the confirmation', async () => {
    const ada = await shop.newAdmin()
    const [begin, confirm] = [{ 'idempotency-key': newId() }, { 'idempotency-key': newId() }]
    const first = await ada.post(PATH, undefined, begin)
    expect((await ada.post(PATH, undefined, begin)).json).toEqual(first.json)
    const body = { code: nextCode(bytesOfBase32(first.json.secret)) }
    const confirmed = await ada.post(`${PATH}/confirm`, body, confirm)
    expect(confirmed.status).toBe(200)
    expect(await ada.post(`${PATH}/confirm`, body, confirm)).toMatchObject({
      status: 200,
      json: confirmed.json
    })
    expect((await ada.post(PATH, undefined, begin)).json.code).toBe('AUTH_SECOND_FACTOR_ENROLLED')
  })

  test('the database and the log contain no secret and no recovery code of a second factor', async () => {
    const ada = await shop.newAdmin()
    const headers = { 'idempotency-key': newId() }
    const { json } = await ada.post(PATH, undefined, headers)
    const secret = bytesOfBase32(json.secret)
    const { recovery_codes } = (await ada.post(`${PATH}/confirm`, { code: nextCode(secret) })).json
    const rows =
      await shop.sql(`select f::text from auth.second_factors f union all select c::text from auth.recovery_codes c
      union all select i::text from cartwright.idempotency_keys i union all select a::text from cartwright.audit a`)
    const stored = [...shop.log, JSON.stringify(rows)].join('\n')
    for (const text of [json.secret, secret.toString('hex'), ...recovery_codes])
      expect(stored).not.toContain(text)
  })

  test('enrolling a second factor is allowed for administrators with any scopes, and not for customers or API keys', async () => {
    const ada = await shop.newAdmin()
    await shop.db.transaction(tx => shop.auth.setRoleById(tx, ada.id, 'admin', ['catalog']))
    await enrol(ada)
    const customer = await shop.register()
    expect((await customer.post(PATH)).json.code).toBe('ADMIN_REQUIRED')
    const boss = await shop.newAdmin()
    const { api_key } = (await boss.post('/api/auth/api-keys', { name: 'bot' })).json
    const { access_token } = (await shop.anonymous.post('/api/auth/token', { api_key })).json
    const bot = shop.as({ token: access_token })
    for (const each of [bot.get(PATH), bot.post(PATH), bot.delete(PATH)])
      expect((await each).json.code).toBe('PERSON_REQUIRED')
  })
})

describe('a log-in with a second factor', () => {
  test('a log-in with a second factor gets a challenge, which a valid code exchanges for a session', async () => {
    const ada = await enrolled()
    const asked = await shop.logIn(ada.email)
    expect(asked).toMatchObject({
      status: 401,
      json: { code: 'AUTH_SECOND_FACTOR_REQUIRED', challenge: expect.any(String), expires_in: 300 }
    })
    expect(asked.json).not.toHaveProperty('access_token')
    const { challenge } = asked.json
    expect(await sessionsOf(ada.id)).toHaveLength(1)
    const done = await answer(challenge, nextCode(ada.secret))
    expect(done).toMatchObject({ status: 200, json: { user: { id: ada.id }, token_type: 'Bearer' } })
    expect((await shop.as({ token: done.json.access_token }).get('/api/auth/me')).status).toBe(200)
    expect(await answer(challenge, nextCode(ada.secret))).toMatchObject(ENDED)
    expect((await shop.logIn(ada.email, 'wrong')).json.code).toBe('AUTH_INVALID_CREDENTIALS')
  })

  test('a repeated challenge response returns its session until the refresh token is exchanged, and uses one code', async () => {
    const ada = await enrolled()
    const challenge = await challengeOf(ada.email)
    const body = { challenge, code: ada.recoveryCodes[0] }
    const headers = { ...from('192.0.2.1'), 'idempotency-key': newId() }
    const send = (sent = headers) => shop.anonymous.post('/api/auth/login/second-factor', body, sent)
    const first = await send()
    const again = await send()
    const { refresh_token } = first.json
    expect(again).toMatchObject({ status: 200, json: { user: first.json.user, refresh_token } })
    expect((await shop.as({ token: again.json.access_token }).get(PATH)).json.recovery_codes_left).toBe(9)
    expect(await sessionsOf(ada.id)).toHaveLength(2)
    expect(await send({ ...headers, 'idempotency-key': newId() })).toMatchObject(ENDED)
    expect((await shop.anonymous.post('/api/auth/refresh', { refresh_token })).status).toBe(200)
    expect(await send()).toMatchObject(ENDED)
  })

  test('a second factor accepts each code once, and no older code', async () => {
    const ada = await enrolled()
    const code = nextCode(ada.secret)
    expect((await answer(await challengeOf(ada.email), code)).status).toBe(200)
    for (const used of [code, nextCode(ada.secret, 0)])
      expect(await answer(await challengeOf(ada.email), used)).toMatchObject(INVALID)
  })

  test('one of many simultaneous uses of a code is accepted, and of a recovery code', async () => {
    const ada = await enrolled()
    const race = async (code: string) => {
      const challenges = await Promise.all(Array.from({ length: 4 }, () => challengeOf(ada.email)))
      const answers = await Promise.all(challenges.map(challenge => answer(challenge, code)))
      return answers.map(({ status }) => status).sort()
    }
    expect(await race(nextCode(ada.secret))).toEqual([200, 401, 401, 401])
    expect(await race(ada.recoveryCodes[0] as string)).toEqual([200, 401, 401, 401])
  })

  test('one of two simultaneous codes for one challenge opens a session, and the other code stays valid', async () => {
    const ada = await enrolled()
    const challenge = await challengeOf(ada.email)
    const [first, second] = ada.recoveryCodes as [string, string]
    const answers = await Promise.all([answer(challenge, first), answer(challenge, second)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
    expect((await ada.get(PATH)).json.recovery_codes_left).toBe(9)
  })

  test('a code of a clock that is two steps off is rejected, and of one step accepted', async () => {
    const ada = await enrolled()
    const now = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now })
    onTestFinished(() => void vi.useRealTimers())
    for (const steps of [-2, 2]) {
      await forgetSteps(ada.id)
      const code = totpCodeOfTimeStep(ada.secret, totpStepAt(now) + steps)
      expect(await answer(await challengeOf(ada.email), code), `${steps}`).toMatchObject(INVALID)
    }
    for (const steps of [-1, 0, 1]) {
      await forgetSteps(ada.id)
      const code = totpCodeOfTimeStep(ada.secret, totpStepAt(now) + steps)
      expect((await answer(await challengeOf(ada.email), code)).status, `${steps}`).toBe(200)
    }
  })

  test('a log-in challenge ends with the fifth failure, also of simultaneous ones, or when it expires', async () => {
    const ada = await enrolled()
    const wrong = wrongCode(ada.secret)
    const challenge = await challengeOf(ada.email)
    const left: number[] = []
    for (let turn = 0; turn < 5; turn += 1) left.push((await answer(challenge, wrong)).json.tries_left)
    expect(left).toEqual([4, 3, 2, 1, 0])
    expect(await answer(challenge, nextCode(ada.secret))).toMatchObject(ENDED)

    const bob = await enrolled()
    const late = await challengeOf(bob.email)
    await shop.sql('update auth.login_challenges set expires_at = now() where user_id = $1', [bob.id])
    expect(await answer(late, nextCode(bob.secret))).toMatchObject(ENDED)
    const stormed = await challengeOf(bob.email)
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, turn) => answer(stormed, wrongCode(bob.secret), `198.51.${turn}.1`))
    )
    expect(answers.filter(({ json }) => json.code === INVALID.json.code)).toHaveLength(5)
    expect(await answer('ch_x'.padEnd(46, 'x'), nextCode(bob.secret))).toMatchObject(ENDED)
  })

  test("code guesses are limited by network and account across challenges, and do not lock out the owner's known network", async () => {
    const ada = await enrolled()
    expect((await answer(await challengeOf(ada.email), nextCode(ada.secret), '192.0.2.7')).status).toBe(200)
    const wrong = wrongCode(ada.secret)
    const guess = async (network: string) => {
      const { json } = await shop.anonymous.post(
        '/api/auth/login',
        { email: ada.email, password: PASSWORD },
        from(network)
      )
      return answer(json.challenge, wrong, network)
    }
    const one: number[] = []
    for (let turn = 0; turn < 7; turn += 1) one.push((await guess('203.0.113.9')).status)
    expect(one).toEqual([401, 401, 401, 401, 401, 401, 429])
    // The budgets of five networks together, and then a turn every five minutes.
    const many: number[] = []
    for (let turn = 0; turn < 30; turn += 1) many.push((await guess(`203.1.${turn}.9`)).status)
    expect(many.filter(status => status === 401)).toHaveLength(24)
    const refused = await guess('203.2.0.9')
    expect(refused).toMatchObject({ status: 429, json: { code: 'AUTH_TOO_MANY_FAILURES' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(300)
    await forgetSteps(ada.id)
    const own = await challengeOf(ada.email)
    expect((await answer(own, nextCode(ada.secret), '192.0.2.99')).status).toBe(200)
  })

  test('while the secret of a second factor cannot be decrypted, codes are rejected and recovery codes work', async () => {
    const ada = await enrolled()
    const sealed = async () =>
      (await shop.sql('select sealed from auth.second_factors where user_id = $1', [ada.id]))[0]
        ?.sealed as Buffer
    const before = await sealed()
    await shop.sql(
      `update auth.second_factors set sealed = overlay(sealed placing '\\x6c6f7374' from 3) where user_id = $1`,
      [ada.id]
    )
    expect(await answer(await challengeOf(ada.email), nextCode(ada.secret))).toMatchObject(INVALID)
    expect(shop.log.join('\n')).toContain('user reset-second-factor')
    expect((await answer(await challengeOf(ada.email), ada.recoveryCodes[0] as string)).status).toBe(200)
    await shop.sql('update auth.second_factors set sealed = $2 where user_id = $1', [ada.id, before])
    expect((await answer(await challengeOf(ada.email), nextCode(ada.secret))).status).toBe(200)
  })
})

describe('a second factor is not bypassed', () => {
  test('a new password does not bypass the second factor: its token opens no session', async () => {
    const ada = await enrolled()
    const waiting = await challengeOf(ada.email)
    await shop.anonymous.post('/api/auth/forgot', { email: ada.email })
    const token = (await shop.sentTo(ada.id, 'password'))?.token
    const reset = await shop.anonymous.post('/api/auth/reset', { token, password: NEW_PASSWORD })
    expect([reset.status, reset.text]).toEqual([204, ''])
    // The password of this challenge was replaced.
    expect(await answer(waiting, nextCode(ada.secret))).toMatchObject(ENDED)
    const asked = await shop.logIn(ada.email, NEW_PASSWORD)
    expect([asked.status, asked.json.code]).toEqual([401, 'AUTH_SECOND_FACTOR_REQUIRED'])
    expect(await sessionsOf(ada.id)).toEqual([])
    expect((await answer(asked.json.challenge, nextCode(ada.secret))).status).toBe(200)
  })

  test('an invitation, a repeated registration, or a role that is granted again does not bypass the second factor', async () => {
    const key = { 'idempotency-key': newId() }
    const body = { email: shop.newEmail(), password: PASSWORD }
    const registered = await shop.anonymous.post('/api/auth/register', body, key)
    const { id } = registered.json.user
    await shop.auth.setRole(body.email, 'admin')
    const { secret } = await enrol(shop.as({ token: registered.json.access_token }))
    const repeated = await shop.anonymous.post('/api/auth/register', body, key)
    expect([repeated.status, repeated.json.code]).toEqual([401, 'AUTH_SECOND_FACTOR_REQUIRED'])
    const boss = await shop.newAdmin()
    const { code: invitation } = (await boss.post('/api/auth/invitations', {})).json
    const invited = await shop.anonymous.post('/api/auth/register', { ...body, invitation })
    expect([invited.status, invited.json.code]).toEqual([409, 'AUTH_EMAIL_TAKEN'])
    for (const role of ['customer', 'admin'] as const) {
      await shop.auth.setRole(body.email, role)
      expect((await shop.logIn(body.email)).json.code).toBe('AUTH_SECOND_FACTOR_REQUIRED')
    }
    expect((await answer(await challengeOf(body.email), nextCode(secret))).json.user.id).toBe(id)
  })

  test('a challenge of an account that was disabled does not bypass the second factor', async () => {
    const ada = await enrolled()
    const challenge = await challengeOf(ada.email)
    await shop.auth.setDisabled(ada.email, true)
    expect(await answer(challenge, nextCode(ada.secret))).toMatchObject(ENDED)
  })
})

describe('a lost device', () => {
  const logInWith = async (ada: { email: string }, code: string): Promise<Person> => {
    const { json } = await answer(await challengeOf(ada.email), code)
    return { ...ada, id: json.user.id, token: json.access_token, ...shop.as({ token: json.access_token }) }
  }

  test('a recovery code replaces a lost second factor and is used up, and the change is published', async () => {
    const ada = await enrolled()
    const [first, second] = ada.recoveryCodes as [string, string]
    const fresh = await logInWith(ada, first.toUpperCase().replaceAll('-', ' '))
    expect(await answer(await challengeOf(ada.email), first)).toMatchObject(INVALID)
    expect((await fresh.get(PATH)).json.recovery_codes_left).toBe(9)
    const changes = () => shop.heardOf(ada.id, 'auth.second_factor_changed').map(each => Object(each).change)
    await expect.poll(changes).toEqual(['enrolled', 'recovery_code_used'])
    const replaced = await fresh.post(`${PATH}/recovery-codes`)
    expect([replaced.status, replaced.json.recovery_codes.length]).toEqual([200, 10])
    expect(await answer(await challengeOf(ada.email), second)).toMatchObject(INVALID)
    expect((await fresh.delete(PATH)).status).toBe(204)
    expect((await fresh.delete(PATH)).json.code).toBe('AUTH_SECOND_FACTOR_NOT_ENROLLED')
    expect((await fresh.post(`${PATH}/recovery-codes`)).json.code).toBe('AUTH_SECOND_FACTOR_NOT_ENROLLED')
    expect((await shop.logIn(ada.email)).status).toBe(200)
    const { secret } = await enrol(fresh)
    expect((await answer(await challengeOf(ada.email), nextCode(secret))).status).toBe(200)
  })

  test('an operator resets a lost second factor without recovery codes, also for the last administrator', async () => {
    const alone = await openAccounts()
    onTestFinished(() => alone.close())
    const ada = await alone.newAdmin()
    const { secret } = await enrol(ada)
    expect((await alone.logIn(ada.email)).json.code).toBe('AUTH_SECOND_FACTOR_REQUIRED')
    const { challenge } = (await alone.logIn(ada.email)).json
    expect(await alone.auth.resetSecondFactor('unknown@example.com')).toBe(false)
    expect(await alone.auth.resetSecondFactor(ada.email)).toBe(true)
    await expect(alone.auth.resetSecondFactor(ada.email)).rejects.toMatchObject({
      code: 'AUTH_SECOND_FACTOR_NOT_ENROLLED'
    })
    expect((await ada.get('/api/auth/me')).status).toBe(401)
    const body = { challenge, code: nextCode(secret) }
    expect(await alone.anonymous.post('/api/auth/login/second-factor', body)).toMatchObject(ENDED)
    expect((await alone.logIn(ada.email)).status).toBe(200)
    const noted = await alone.sql(
      'select method, route, params, status from cartwright.audit where method = $1',
      ['COMMAND']
    )
    expect(noted).toEqual([
      { method: 'COMMAND', route: 'user reset-second-factor', params: { id: ada.id }, status: null }
    ])
    const changes = () => alone.heardOf(ada.id, 'auth.second_factor_changed').map(each => Object(each).change)
    await expect.poll(changes).toEqual(['enrolled', 'reset'])
  })
})
