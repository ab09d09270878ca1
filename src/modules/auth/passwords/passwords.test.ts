import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPasswordWorkQueue } from './bulkhead.ts'
import { COMMON_PASSWORDS_FOLDED } from './common-list.ts'
import { argon2idPasswordHashing } from './hashing.ts'
import { foldLookalikeCharacters } from './lookalikes.ts'
import { passwordWeaknesses } from './policy.ts'

const PASSWORD = 'nine lives and a piano'

describe('weak passwords', () => {
  const context = { lengthMin: 12, email: 'ada.lovelace@example.com', shopName: 'Café Noir' }
  test.each([
    ['has eleven characters', 'elevenchars', 'too_short'],
    ['has eleven characters of two code units', '🐘'.repeat(11), 'too_short'],
    ['is one character that becomes eighteen', '\ufdfa', 'too_short'],
    ['is eleven characters that become more', '\ufb03'.repeat(11), 'too_short'],
    ['is twelve code points that become fewer', 'e\u0301'.repeat(6), 'too_short'],
    ['is endless', 'ab cd '.repeat(60), 'too_long'],
    ['becomes endless', '\ufdfa nine lives'.repeat(15), 'too_long'],
    ['is on the list', 'correcthorsebatterystaple', 'common'],
    ['is on the list in capitals', 'CorrectHorseBatteryStaple', 'common'],
    ['is a common word with digits', 'password20261', 'common'],
    ['is a common word with signs around', '!!!Welcome!!!123', 'common'],
    ['is a common word in wide letters', '\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24123456', 'common'],
    ['is a common word with look-alike characters', 'P4ssw0rdP4ssw0rd', 'common'],
    ['is a common word twice with signs between', 'password1!password', 'common'],
    ['is a common word in signs', '$un5h|n€-2026', 'common'],
    ['is a common word with accents', 'Chöcôláte!123', 'common'],
    ['is a common word backwards', '!drowssap2026', 'common'],
    ['is a common word backwards with look-alike characters', '1l4b3s4b-2026', 'common'],
    ['is a common word there and back', 'batmannamtab7', 'common'],
    ['is a common word three times', 'Qw3rty-qwerty-QWERTY', 'common'],
    ['is a common word with three letters', 'sunshine-xyz!', 'common'],
    ['repeats a long block', 'xylophonist-xylophonist-', 'repetition'],
    ['repeats a character', 'aaaaaaaaaaaaaaa', 'repetition'],
    ['repeats a block', 'xyzxyzxyzxyzx', 'repetition'],
    ['runs along the keyboard', 'asdfghjklpoiuytrewq', 'sequence'],
    ['runs backwards', 'ponmlkjihgfe98765', 'sequence'],
    ['runs along the alphabet', 'abcdefghijkl123', 'sequence'],
    ['contains the name in the e-mail', 'my Ada.Lovelace key', 'contains_email'],
    ['contains the name of the shop', 'the cafe\u0301 noir key', 'contains_shop_name']
  ])('a password is too weak when it %s', (_what, password, reason) => {
    expect(passwordWeaknesses(password, context)[0]).toBe(reason)
  })

  test.each([
    PASSWORD,
    'twelve chars',
    '🐘🦊🐝🦉🐙🦋🐢🦔🐌🦜🐳🦩',
    'Tr0mbone-9!fjord',
    'zxcv is not my password',
    'contraseña muy buena',
    'dragon and four more',
    'sunshine-wxyz',
    'maverick-73921046'
  ])('a password is not too weak when it is %j', password => {
    expect(passwordWeaknesses(password, context)).toEqual([])
  })

  test('the minimum length of a password is configurable', () => {
    expect(passwordWeaknesses('nine live', { ...context, lengthMin: 8 })).toEqual([])
    expect(passwordWeaknesses(PASSWORD, { ...context, lengthMin: 40 })).toEqual(['too_short'])
  })
})

describe('the list of common passwords', () => {
  const words = COMMON_PASSWORDS_FOLDED.trim().split(/\s+/)

  test('the list of common passwords has at least 3,000 unique entries in folded form', () => {
    expect(words.length).toBeGreaterThanOrEqual(3_000)
    expect(new Set(words).size).toBe(words.length)
    expect(words.filter(word => foldLookalikeCharacters(word) !== word)).toEqual([])
  })

  test('every common password with digits appended, reversed or doubled is rejected, too', () => {
    const context = { lengthMin: 8, email: 'x@example.com', shopName: 'Shop' }
    const accepted = words
      .flatMap(word => [`${word}2026`, `${[...word].reverse().join('')}!7`, `${word}-${word.toUpperCase()}`])
      .filter(password => password.length >= 8 && passwordWeaknesses(password, context).length === 0)
    expect(accepted).toEqual([])
  })
})

describe('password hashing', () => {
  test('a password hash is argon2id with 19 MiB of memory, two passes and one lane', async () => {
    expect(await argon2idPasswordHashing.hash(PASSWORD)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  })

  test('only the hashed password is verified, and no password for an account without a hash', async () => {
    const hash = await argon2idPasswordHashing.hash(PASSWORD)
    expect(await argon2idPasswordHashing.verify(hash, PASSWORD)).toBe(true)
    expect(await argon2idPasswordHashing.verify(hash, `${PASSWORD} `)).toBe(false)
    expect(await argon2idPasswordHashing.verify(hash, '')).toBe(false)
    expect(await argon2idPasswordHashing.verify(null, PASSWORD)).toBe(false)
    expect(await argon2idPasswordHashing.verify(null, '')).toBe(false)
  })
})

test.runIf(process.platform === 'linux')(
  'the threads that hash passwords have a lower priority than the request thread',
  async () => {
    await argon2idPasswordHashing.hash(PASSWORD)
    const pool = readdirSync('/proc/self/task').filter(
      thread => readFileSync(`/proc/self/task/${thread}/comm`, 'utf8') === 'libuv-worker\n'
    )
    expect(pool.length).toBeGreaterThan(0)
    const expected = Math.min(19, getPriority() + 10)
    expect(pool.map(thread => getPriority(Number(thread)))).toEqual(pool.map(() => expected))
  }
)

describe('the queue of password hashes', () => {
  const deferred = () => {
    let release = () => {}
    const done = new Promise<void>(resolve => {
      release = resolve
    })
    return { done, release }
  }

  test('the password hash queue runs and queues work up to its limits and rejects the rest immediately', async () => {
    const { run } = createPasswordWorkQueue({ concurrency: 2, queueMax: 3, waitMs: 10_000 })
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

  test('password hashes that waited too long are rejected, and their slots are released', async () => {
    const { run } = createPasswordWorkQueue({ concurrency: 1, queueMax: 3, waitMs: 20 })
    const gate = deferred()
    const first = run(() => gate.done)
    await expect(run(async () => {})).rejects.toMatchObject({ code: 'AUTH_BUSY' })
    gate.release()
    await first
    await expect(Promise.all([run(async () => 1), run(async () => 2)])).resolves.toEqual([1, 2])
  })

  test('password hashes that will not start in time are rejected after 1.25 s, and the rest run', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { run } = createPasswordWorkQueue({ concurrency: 1, queueMax: 100, waitMs: 4_000 })
    const refusedAt: number[] = []
    const startedAt = performance.now()
    const work = () => new Promise<void>(resolve => setTimeout(resolve, 100))
    const all = Array.from({ length: 60 }, () =>
      run(work).then(
        () => 'done',
        () => refusedAt.push(performance.now() - startedAt)
      )
    )
    await vi.advanceTimersByTimeAsync(10_000)
    const outcomes = await Promise.all(all)
    const done = outcomes.filter(outcome => outcome === 'done').length
    expect([done, done + refusedAt.length]).toEqual([
      expect.toSatisfy(count => count >= 36 && count <= 42),
      60
    ])
    expect(Math.max(...refusedAt)).toBe(1_250)
  })

  test('a throttled password hash slot stays idle for as long as it was used', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { run } = createPasswordWorkQueue({
      concurrency: 1,
      queueMax: 1,
      waitMs: 10_000,
      isThrottled: true
    })
    await run(async () => vi.advanceTimersByTime(30))
    let isNextDone = false
    const next = run(async () => {
      isNextDone = true
    })
    await vi.advanceTimersByTimeAsync(29)
    expect(isNextDone).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isNextDone).toBe(true)
    await next
  })

  test('a password hash that fails releases its slot', async () => {
    const { run } = createPasswordWorkQueue({ concurrency: 1, queueMax: 0, waitMs: 20 })
    await expect(run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    await expect(run(async () => 1)).resolves.toBe(1)
  })
})
