import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp } from '../../../../test/support/app.ts'
import { useTestDatabase } from '../../../../test/support/database.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { createBulkhead } from './bulkhead.ts'
import { argon2id } from './hashing.ts'
import { passwordWeakness } from './policy.ts'
import { createPasswords } from './service.ts'

const PASSWORD = 'nine lives and a piano'

describe('a password is too weak when it', () => {
  const context = { lengthMin: 12, email: 'ada.lovelace@example.com', shopName: 'Café Noir' }
  test.each([
    ['has eleven characters', 'elevenchars', 'too_short'],
    ['has eleven characters of two code units', '🐘'.repeat(11), 'too_short'],
    ['is endless', 'ab cd '.repeat(60), 'too_long'],
    ['is on the list', 'correcthorsebatterystaple', 'common'],
    ['is on the list in capitals', 'CorrectHorseBatteryStaple', 'common'],
    ['is a common word with digits', 'password20261', 'common'],
    ['is a common word with signs around', '!!!Welcome!!!123', 'common'],
    ['is a common word in wide letters', '\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24123456', 'common'],
    ['repeats a character', 'aaaaaaaaaaaaaaa', 'repetition'],
    ['repeats a block', 'xyzxyzxyzxyzx', 'repetition'],
    ['runs along the keyboard', 'asdfghjklpoiuytrewq', 'sequence'],
    ['runs backwards', 'poiuytrewq98765', 'sequence'],
    ['runs along the alphabet', 'abcdefghijkl123', 'sequence'],
    ['contains the name in the e-mail', 'my Ada.Lovelace key', 'contains_email'],
    ['contains the name of the shop', 'the cafe\u0301 noir key', 'contains_shop_name']
  ])('%s', (_what, password, reason) => {
    expect(passwordWeakness(password, context)).toBe(reason)
  })

  test.each([
    PASSWORD,
    'twelve chars',
    '🐘🦊🐝🦉🐙🦋🐢🦔🐌🦜🐳🦩',
    'Tr0mbone-9!fjord',
    'zxcv is not my password',
    'contraseña muy buena'
  ])('and not when it is %j', password => {
    expect(passwordWeakness(password, context)).toBeUndefined()
  })

  test('the least length is configuration', () => {
    expect(passwordWeakness('nine live', { ...context, lengthMin: 8 })).toBeUndefined()
    expect(passwordWeakness(PASSWORD, { ...context, lengthMin: 40 })).toBe('too_short')
  })
})

describe('password hashing', () => {
  test('is argon2id with 19 MiB, two passes and one lane', async () => {
    expect(await argon2id.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('verifies its own, and nothing where there is no hash', async () => {
    const hash = await argon2id.hash(PASSWORD)
    expect(await argon2id.verify(hash, PASSWORD)).toBe(true)
    expect(await argon2id.verify(hash, `${PASSWORD} `)).toBe(false)
    expect(await argon2id.verify(hash, '')).toBe(false)
    expect(await argon2id.verify(null, PASSWORD)).toBe(false)
    expect(await argon2id.verify(null, '')).toBe(false)
  })
})

describe('the bulkhead', () => {
  const deferred = () => {
    let release = () => {}
    const done = new Promise<void>(resolve => {
      release = resolve
    })
    return { done, release }
  }

  test('runs so many at once, queues so many, and refuses the rest at once', async () => {
    const run = createBulkhead({ atOnce: 2, queueMax: 3, waitMs: 10_000 })
    const gate = deferred()
    let running = 0
    let most = 0
    const work = () =>
      run(async () => {
        running += 1
        most = Math.max(most, running)
        await gate.done
        running -= 1
      })
    const accepted = Array.from({ length: 5 }, work)
    await expect(work()).rejects.toMatchObject({
      code: 'AUTH_BUSY',
      kind: 'unavailable',
      retryAfterSeconds: 1
    })
    gate.release()
    await Promise.all(accepted)
    expect(most).toBe(2)
    await expect(run(async () => 'free again')).resolves.toBe('free again')
  })

  test('refuses who has waited too long, and keeps its places right', async () => {
    const run = createBulkhead({ atOnce: 1, queueMax: 3, waitMs: 20 })
    const gate = deferred()
    const first = run(() => gate.done)
    await expect(run(async () => {})).rejects.toMatchObject({ code: 'AUTH_BUSY' })
    gate.release()
    await first
    await expect(Promise.all([run(async () => 1), run(async () => 2)])).resolves.toEqual([1, 2])
  })

  test('gives its place back when the work fails', async () => {
    const run = createBulkhead({ atOnce: 1, queueMax: 0, waitMs: 20 })
    await expect(run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await expect(run(async () => 1)).resolves.toBe(1)
  })
})

describe('proving a password', () => {
  const holder = { password_hash: 'right', disabled: false }

  async function usePasswords(failuresMax = 3, hashesAtOnce = 2) {
    const verify = vi.fn(async (hash: string | null, password: string) => hash !== null && hash === password)
    const db = await useTestDatabase()
    const passwords = createPasswords({
      db,
      hashing: { hash: async password => password, verify },
      hashesAtOnce,
      failuresMax
    })
    const codeOf = (account: string, password: string, found: typeof holder | undefined = holder) =>
      passwords
        .prove(account, password, async () => found)
        .then(
          () => 'proved',
          (error: { code: string }) => error.code
        )
    return { verify, codeOf, passwords }
  }

  test.each([
    ['a wrong password', holder],
    ['an unknown account', undefined],
    ['a disabled account', { ...holder, disabled: true }],
    ['an account without password', { password_hash: null, disabled: false }]
  ])('costs one hash for %s, as for the right one', async (_who, found) => {
    const { verify, passwords } = await usePasswords()
    const attempt = passwords.prove(
      'x',
      found?.disabled ? 'right' : 'wrong',
      async () => found as typeof holder
    )
    await expect(attempt).rejects.toMatchObject({ code: 'AUTH_INVALID_CREDENTIALS' })
    expect(verify).toHaveBeenCalledTimes(1)
  })

  test('stops after so many failures, also for the right password, and says for how long', async () => {
    const { codeOf, passwords, verify } = await usePasswords()
    const codes = [
      await codeOf('x', 'a'),
      await codeOf('x', 'b'),
      await codeOf('x', 'c'),
      await codeOf('x', 'right')
    ]
    expect(codes).toEqual([...Array(3).fill('AUTH_INVALID_CREDENTIALS'), 'AUTH_TOO_MANY_FAILURES'])
    expect(verify).toHaveBeenCalledTimes(3)
    const error = await passwords.prove('x', 'right', async () => holder).catch((each: unknown) => each)
    const { kind, retryAfterSeconds } = error as { kind: string; retryAfterSeconds: number }
    expect(kind).toBe('rate_limited')
    expect(retryAfterSeconds).toBeGreaterThan(890)
    expect(retryAfterSeconds).toBeLessThanOrEqual(900)
    expect(await codeOf('y', 'right')).toBe('proved')
  })

  test('counts unknown accounts alike', async () => {
    const { codeOf } = await usePasswords()
    const codes = []
    for (let turn = 0; turn < 4; turn += 1) codes.push(await codeOf('nobody', 'x', undefined))
    expect(codes).toEqual([...Array(3).fill('AUTH_INVALID_CREDENTIALS'), 'AUTH_TOO_MANY_FAILURES'])
  })

  test('forgets failures after a success', async () => {
    const { codeOf } = await usePasswords()
    for (let turn = 0; turn < 3; turn += 1) {
      expect([await codeOf('x', 'a'), await codeOf('x', 'b'), await codeOf('x', 'right')]).toEqual([
        'AUTH_INVALID_CREDENTIALS',
        'AUTH_INVALID_CREDENTIALS',
        'proved'
      ])
    }
  })

  test('cannot be overtaken by guesses sent at once', async () => {
    const { codeOf, verify } = await usePasswords(3, 2)
    const codes = await Promise.all(Array.from({ length: 50 }, (_, turn) => codeOf('x', `guess ${turn}`)))
    expect(codes.filter(code => code === 'AUTH_INVALID_CREDENTIALS')).toHaveLength(3)
    expect(codes.filter(code => code === 'AUTH_TOO_MANY_FAILURES')).toHaveLength(47)
    expect(verify.mock.calls.length).toBeLessThanOrEqual(4)
  })

  test('lets the owner in again when the window is over', async () => {
    const app = await createTestApp({ CARTWRIGHT__AUTH__FAILED_LOGINS_MAX: '2' })
    onTestFinished(() => app.close())
    const email = 'owner@example.com'
    const logIn = (password: string, address = email) =>
      app.request('POST', '/api/auth/login', { body: { email: address, password } })
    const { json: mine } = await app.request('POST', '/api/auth/register', {
      body: { email, password: PASSWORD }
    })
    for (const address of [email, email.toUpperCase()])
      expect((await logIn('wrong', address)).status).toBe(401)

    const refused = await logIn(PASSWORD)
    expect(refused.status).toBe(429)
    expect(refused.json.code).toBe('AUTH_TOO_MANY_FAILURES')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)

    // Whoever is in stays in: a stranger's failures are not the owner's.
    const refreshed = await app.request('POST', '/api/auth/refresh', {
      body: { refresh_token: mine.refresh_token }
    })
    expect(refreshed.status).toBe(200)
    const token = refreshed.json.access_token
    expect((await app.request('GET', '/api/auth/me', { token })).status).toBe(200)
    const body = { current_password: PASSWORD, new_password: 'eleven lives and a cello' }
    expect((await app.request('POST', '/api/auth/password', { token, body })).status).toBe(204)

    await runSql(app.databaseUrl, `update auth.failed_logins set started_at = now() - interval '15 minutes'`)
    expect((await logIn('eleven lives and a cello')).status).toBe(200)
  })
})
