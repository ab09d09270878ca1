import { afterEach, describe, expect, test, vi } from 'vitest'
import { type TestApp, useTestApp } from '../../../../test/support/app.ts'
import { useTestDatabase } from '../../../../test/support/database.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { testSecrets } from '../../../../test/support/secrets.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import type { DomainError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import {
  decideLoginAttempt,
  loginAttemptCostSeconds,
  loginNetworkPrefixOf,
  secondsUntilReservedLoginAttempt
} from './attempt-rules.ts'
import { createLoginThrottle } from './login-throttle.ts'
import { createPasswordCheckingService } from './service.ts'

const PASSWORD = 'nine lives and a piano'

shareShops()

afterEach(() => {
  vi.useRealTimers()
})

describe('a login attempt', () => {
  const fresh = { ownLevel: 0, turnIn: null, isKnown: false }

  test('a log-in attempt is allowed within the budget of its network, which refills one attempt at a time', () => {
    expect(decideLoginAttempt(fresh, 10)).toEqual({ charge: 'account' })
    expect(decideLoginAttempt({ ...fresh, ownLevel: 9 * loginAttemptCostSeconds(10) }, 10)).toEqual({
      charge: 'account'
    })
    expect(decideLoginAttempt({ ...fresh, ownLevel: 900 }, 10)).toEqual({ waitSeconds: 90 })
    expect(decideLoginAttempt({ ...fresh, ownLevel: 810 }, 10)).toEqual({ charge: 'account' })
  })

  test('a log-in attempt from a known network is not limited by the budget that other networks share', () => {
    expect(decideLoginAttempt({ ...fresh, isKnown: true, turnIn: 500 }, 10)).toEqual({ charge: 'own' })
    expect(decideLoginAttempt({ ...fresh, isKnown: true, ownLevel: 900 }, 10)).toEqual({ waitSeconds: 90 })
  })

  test('a log-in attempt beyond the budget waits for its turn, which expires after a minute', () => {
    expect(decideLoginAttempt({ ...fresh, turnIn: 12 }, 10)).toEqual({ waitSeconds: 12 })
    expect(decideLoginAttempt({ ...fresh, turnIn: 0 }, 10)).toEqual({ charge: 'own' })
    expect(decideLoginAttempt({ ...fresh, turnIn: -60 }, 10)).toEqual({ charge: 'own' })
    expect(decideLoginAttempt({ ...fresh, turnIn: -61 }, 10)).toEqual({ charge: 'account' })
  })

  test('log-in attempts beyond the five shared budgets get a turn once in ten seconds', () => {
    expect(secondsUntilReservedLoginAttempt(500, 10)).toBe(0)
    expect(secondsUntilReservedLoginAttempt(510, 10)).toBe(10)
    expect(secondsUntilReservedLoginAttempt(520, 10)).toBe(20)
  })

  test.each([
    ['192.0.2.7', '192.0.2'],
    ['192.0.2.250', '192.0.2'],
    ['::ffff:192.0.2.7', '192.0.2'],
    ['2001:db8:1:2::/64', '2001:db8:1'],
    ['2001:db8:1:ffff::/64', '2001:db8:1'],
    ['0:0:0:0::/64', '0:0:0']
  ])('a log-in attempt from %s is counted for its network prefix', (network, place) => {
    expect(loginNetworkPrefixOf(network)).toBe(place)
  })
})

/** Budgets that allow everything, and hashes that are computed once they are released. */
function heldHashing() {
  let release = () => {}
  const released = new Promise<boolean>(resolve => {
    release = () => resolve(false)
  })
  const entry = { succeed: async () => {}, withdraw: async () => {} }
  return {
    budgets: {
      chargeAttempt: vi.fn(async () => entry),
      chargeOwnAttempt: async () => {},
      remember: async () => {}
    },
    hashing: { hash: async () => '', verify: () => released },
    release
  }
}

describe('checking a password', () => {
  const holder = { id: '01890000-0000-7000-8000-000000000000', password_hash: 'right', disabled: false }
  type Found = Omit<typeof holder, 'password_hash'> & { password_hash: string | null }

  async function usePasswords(failuresMax = 3, hashConcurrency = 2) {
    const verify = vi.fn(async (hash: string | null, password: string) => hash !== null && hash === password)
    const db = await useTestDatabase()
    const passwords = createPasswordCheckingService({
      budgets: createLoginThrottle({ db, secrets: testSecrets(), failuresMax }),
      hashing: { hash: async password => password, verify },
      hashConcurrency
    })
    // Budgets are counted by account, and tests share the database.
    const ownAccount = newId()
    const prove = (
      password: string,
      network = '192.0.2.1',
      found: Found | undefined = undefined,
      account = ownAccount
    ) => passwords.prove({ account, network, withoutSlot }, password, async () => found)
    const codeOf = (password: string, network?: string, found?: Found, account?: string) =>
      prove(password, network, found, account).then(
        () => 'proved',
        (error: DomainError) => error.code
      )
    return { verify, prove, codeOf, passwords, account: ownAccount }
  }
  const withoutSlot = <T>(work: () => Promise<T>) => work()
  const WRONG = 'AUTH_INVALID_CREDENTIALS'
  const WAIT = 'AUTH_TOO_MANY_FAILURES'

  test.each<[string, Found | undefined, string]>([
    ['a wrong password', holder, 'wrong'],
    ['an unknown account', undefined, 'wrong'],
    ['a disabled account', { ...holder, disabled: true }, 'right'],
    ['an account without password', { ...holder, password_hash: null }, 'wrong']
  ])('a log-in with %s computes one password hash', async (_who, found, password) => {
    const { verify, codeOf } = await usePasswords()
    expect(await codeOf(password, '192.0.2.1', found)).toBe(WRONG)
    expect(verify).toHaveBeenCalledTimes(1)
  })

  test('three wrong passwords block a network without computing another hash, and return Retry-After', async () => {
    const { codeOf, prove, verify } = await usePasswords()
    const codes = [
      await codeOf('a'),
      await codeOf('b'),
      await codeOf('c'),
      await codeOf('right', '192.0.2.99')
    ]
    expect(codes).toEqual([WRONG, WRONG, WRONG, WAIT])
    expect(verify).toHaveBeenCalledTimes(3)
    const error = (await prove('right').catch((each: unknown) => each)) as DomainError
    expect(error.kind).toBe('rate_limited')
    expect(error.retryAfterSeconds).toBeGreaterThan(290)
    expect(error.retryAfterSeconds).toBeLessThanOrEqual(300)
    expect(await codeOf('a', '192.0.2.1', undefined, newId())).toBe(WRONG)
  })

  test('of 50 simultaneous password guesses from one network, three are hashed', async () => {
    const { codeOf, verify } = await usePasswords()
    const codes = await Promise.all(Array.from({ length: 50 }, (_, turn) => codeOf(`guess ${turn}`)))
    expect(codes.filter(code => code === WRONG)).toHaveLength(3)
    expect(codes.filter(code => code === WAIT)).toHaveLength(47)
    expect(verify).toHaveBeenCalledTimes(3)
  })

  test('password guesses from 40 networks get five shared budgets, then one attempt every ten seconds', async () => {
    const { codeOf, verify, prove } = await usePasswords()
    const networks = Array.from({ length: 40 }, (_, index) => `198.51.${index}.1`)
    const codes = await Promise.all([...networks, ...networks].map(network => codeOf('guess', network)))
    expect(codes.filter(code => code === WRONG)).toHaveLength(15)
    expect(verify).toHaveBeenCalledTimes(15)
    const error = (await prove('guess', '203.0.113.1').catch((each: unknown) => each)) as DomainError
    // Earlier attempts have earlier turns.
    expect(error.retryAfterSeconds).toBeGreaterThan(10)
    expect(error.retryAfterSeconds).toBeLessThanOrEqual(10 * (40 + 1))
  })

  test('when too many attempts wait for a hash, a log-in is rejected before any read or count', async () => {
    const { budgets, hashing, release } = heldHashing()
    const passwords = createPasswordCheckingService({ budgets, hashing, hashConcurrency: 1 })
    const find = vi.fn(async () => undefined)
    const prove = () => passwords.prove({ account: 'x', network: '192.0.2.1', withoutSlot }, 'a', find)
    const outcomes = Array.from({ length: 151 }, () => prove().catch((error: DomainError) => error.code))
    await eventually(() => expect(budgets.chargeAttempt).toHaveBeenCalledTimes(151))
    await expect(prove()).rejects.toMatchObject({ code: 'AUTH_BUSY', retryAfterSeconds: 1 })
    expect([find.mock.calls.length, budgets.chargeAttempt.mock.calls.length]).toEqual([151, 151])
    release()
    expect(await Promise.all(outcomes)).toEqual(Array(151).fill(WRONG))
  })

  test('a password check whose hash could not be computed uses no budget', async () => {
    const { passwords, account, codeOf, verify } = await usePasswords(1)
    verify.mockRejectedValueOnce(new Error('out of memory'))
    const attempt = { account, network: '192.0.2.1', withoutSlot }
    await expect(passwords.prove(attempt, 'a', async () => undefined)).rejects.toThrow('out of memory')
    expect(await codeOf('a')).toBe(WRONG)
  })
})

describe('guesses of an attacker', () => {
  const behindProxy = { CARTWRIGHT__SERVER__TRUST_PROXY: 'true' }

  async function useShop(settings: Record<string, string> = {}) {
    const app = await useTestApp({ ...behindProxy, ...settings })
    const owner = { email: `${newId()}@example.com`, password: PASSWORD }
    const from = (address: string) => ({ 'x-forwarded-for': address })
    await app.request('POST', '/api/auth/register', { body: owner, headers: from('192.0.2.1') })
    const logIn = (address: string, password = PASSWORD) =>
      app.request('POST', '/api/auth/login', { body: { ...owner, password }, headers: from(address) })
    const sql = (text: string) => runSql(app.databaseUrl, text)
    return { app, logIn, sql, from }
  }

  test("ten wrong guesses by an attacker lock the account's owner out of no other network", async () => {
    const { logIn } = await useShop()
    for (let turn = 0; turn < 10; turn += 1) expect((await logIn('203.0.113.9', 'wrong')).status).toBe(401)
    const refused = await logIn('203.0.113.9', PASSWORD)
    expect(refused.status).toBe(429)
    expect(refused.json.code).toBe('AUTH_TOO_MANY_FAILURES')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await logIn('198.51.100.1')).status).toBe(200)
  })

  test("password guesses from many networks do not lock the account's owner out of a known network", async () => {
    const { logIn } = await useShop({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '2' })
    expect((await logIn('198.51.100.1')).status).toBe(200)
    for (let network = 0; network < 20; network += 1) await logIn(`203.0.${network}.9`, 'wrong')
    expect((await logIn('203.0.113.10')).status).toBe(429)
    expect((await logIn('198.51.100.200')).status).toBe(200)
    // The network of the registration is known.
    expect((await logIn('192.0.2.200')).status).toBe(200)
  })

  test("password guesses from many networks only delay the account's owner in an unknown network", async () => {
    const { logIn, sql } = await useShop({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '2' })
    for (let network = 0; network < 20; network += 1) await logIn(`203.0.${network}.9`, 'wrong')
    const first = await logIn('198.51.100.1')
    expect(first.status).toBe(429)
    const wait = Number(first.headers['retry-after'])
    expect(wait).toBeLessThanOrEqual(10 * 11)
    // The attacker continues; reserved turns are kept.
    for (let network = 20; network < 40; network += 1) await logIn(`203.0.${network}.9`, 'wrong')
    expect(Number((await logIn('198.51.100.1')).headers['retry-after'])).toBeLessThanOrEqual(wait)
    await sql(`update auth.login_budgets set full_at = full_at - make_interval(secs => ${wait}),
               turn_at = turn_at - make_interval(secs => ${wait})`)
    expect((await logIn('198.51.100.1')).status).toBe(200)
    expect((await logIn('198.51.100.1')).status).toBe(200)
  })

  test("password guesses end no session of the account's owner, who can still change the password", async () => {
    const { app, logIn, from } = await useShop({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '2' })
    const { json: mine } = await logIn('192.0.2.1')
    for (let network = 0; network < 20; network += 1) await logIn(`203.0.${network}.9`, 'wrong')
    const headers = from('198.51.100.1')
    const { json: fresh } = await app.request('POST', '/api/auth/refresh', {
      body: { refresh_token: mine.refresh_token },
      headers
    })
    const body = { current_password: PASSWORD, new_password: 'eleven lives and a cello' }
    const changed = await app.request('POST', '/api/auth/password', {
      token: fresh.access_token,
      body,
      headers
    })
    expect(changed.status).toBe(204)
  })

  test("failed guesses in the owner's network no longer count after the owner has logged in there", async () => {
    const { logIn } = await useShop({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '3' })
    for (let turn = 0; turn < 3; turn += 1) {
      const statuses = [
        (await logIn('198.51.100.1', 'wrong')).status,
        (await logIn('198.51.100.2', 'wrong')).status,
        (await logIn('198.51.100.3')).status
      ]
      expect(statuses).toEqual([401, 401, 200])
    }
  })

  test('password guesses get the same responses and the same limit, whether or not the account exists', async () => {
    const { app, logIn, from } = await useShop()
    const unknown = (address: string) =>
      app.request('POST', '/api/auth/login', {
        body: { email: 'unknown@example.com', password: 'wrong' },
        headers: from(address)
      })
    for (let turn = 0; turn < 12; turn += 1) {
      const [there, nowhere] = [await logIn('203.0.113.9', 'wrong'), await unknown('203.0.113.9')]
      expect(nowhere.status).toBe(there.status)
      expect({ ...nowhere.json, request_id: '' }).toEqual({ ...there.json, request_id: '' })
    }
  })
})

describe('changing passwords', () => {
  async function useCustomer(app: TestApp, name: string) {
    const body = { email: `${name}.${newId()}@example.com`, password: PASSWORD }
    const { json } = await app.request('POST', '/api/auth/register', { body })
    return (current_password: string, new_password: string) =>
      app.request('POST', '/api/auth/password', {
        token: json.access_token,
        body: { current_password, new_password }
      })
  }

  test('changing a password to a weak one is rejected and uses no log-in budget', async () => {
    const app = await useTestApp()
    const change = await useCustomer(app, 'ada')
    const budgets = () => runSql(app.databaseUrl, 'select key_hash, full_at from auth.login_budgets')
    const before = await budgets()
    for (let turn = 0; turn < 30; turn += 1) {
      expect((await change(PASSWORD, 'short')).json.code).toBe('AUTH_PASSWORD_TOO_WEAK')
    }
    expect(await budgets()).toEqual(before)
  })

  test('password changes are limited for each customer, also with the right current password', async () => {
    const app = await useTestApp({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '3' })
    const [change, other] = [await useCustomer(app, 'ada'), await useCustomer(app, 'bob')]
    const statuses = [
      (await change('wrong', 'eleven lives and a cello')).status,
      (await change(PASSWORD, 'eleven lives and a cello')).status,
      (await change('eleven lives and a cello', PASSWORD)).status,
      (await change(PASSWORD, 'twelve lives and a viola')).status
    ]
    expect(statuses).toEqual([401, 204, 204, 429])
    expect((await other(PASSWORD, 'eleven lives and a cello')).status).toBe(204)
  })

  test('repeated password changes by three customers do not block log-ins', async () => {
    const app = await useTestApp({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '1000' })
    const body = { email: `owner.${newId()}@example.com`, password: PASSWORD }
    await app.request('POST', '/api/auth/register', { body })
    const customers = await Promise.all(['ada', 'bob', 'eve'].map(name => useCustomer(app, name)))
    const tenEach = Array.from({ length: 10 }, () => customers).flat()
    const stop = new AbortController()
    let refused = 0
    const loops = tenEach.map(async change => {
      while (!stop.signal.aborted) {
        // 503 on a machine that is too slow to compute thirty hashes in time.
        expect([401, 503]).toContain((await change('a wrong password', 'eleven lives and a cello')).status)
        refused += 1
      }
    })
    await expect.poll(() => refused).toBeGreaterThan(tenEach.length)

    /** Responses to changes during a login. */
    const answered: number[] = []
    for (let turn = 0; turn < 20; turn += 1) {
      const before = refused
      expect((await app.request('POST', '/api/auth/login', { body })).status).toBe(200)
      answered.push(refused - before)
    }
    stop.abort()
    await Promise.all(loops)
    // In a shared queue, the login would wait for all thirty changes.
    const middle = answered.sort((a, b) => a - b)[answered.length / 2]
    expect(middle).toBeLessThan(tenEach.length / 2)
  })
})

test.each([
  ['log-ins', '/api/auth/login'],
  ['registrations', '/api/auth/register']
])('%s that wait for a password hash hold no request slot', async (_what, path) => {
  const app = await useTestApp({
    CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
    CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: '2',
    CARTWRIGHT__AUTH__PASSWORD_HASH_CONCURRENCY: '1'
  })
  const { json } = await app.request('POST', '/api/auth/register', {
    body: { email: `owner.${newId()}@example.com`, password: PASSWORD }
  })
  let done = 0
  const all = Array.from({ length: 12 }, async (_, index) => {
    const body = { email: `buyer-${index}.${newId()}@example.com`, password: PASSWORD }
    const { status } = await app.request('POST', path, {
      body,
      headers: { 'x-forwarded-for': `203.0.113.${index}` }
    })
    done += 1
    return status
  })
  const { status } = await app.request('GET', '/api/auth/sessions', { token: json.access_token })
  expect([status, done < 6]).toEqual([200, true])
  const served = path.endsWith('login') ? 401 : 201
  // A slow machine rejects attempts that would wait too long.
  for (const each of await Promise.all(all)) expect([served, 503]).toContain(each)
})
