import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../../test/support/app.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { authModule } from '../index.ts'

const PASSWORD = 'nine lives and a piano'
const UUID = /^[0-9a-f-]{36}$/
const ABSENT = '01890000-0000-7000-8000-000000000000'

let app: TestApp
let people = 0

beforeAll(async () => {
  app = await createTestApp({ CARTWRIGHT__AUTH__PASSWORD_HASH_CONCURRENCY: '4' })
})
afterAll(() => app.close())

const newEmail = () => `person${++people}.of.tests@example.com`

async function register(over: Record<string, unknown> = {}) {
  const body = { email: newEmail(), password: PASSWORD, ...over }
  return { ...(await app.request('POST', '/api/auth/register', { body })), email: body.email }
}
const logIn = (email: string, password = PASSWORD) =>
  app.request('POST', '/api/auth/login', { body: { email, password } })

async function newAdmin(): Promise<string> {
  const email = newEmail()
  await app.apiOf(authModule)?.createUser({ email, password: PASSWORD, role: 'admin' })
  return (await logIn(email)).json.access_token
}

describe('register', () => {
  test('a registration returns 201 with the user and tokens, and forbids caching', async () => {
    const answer = await register({ email: '  Ada.Lovelace@Example.COM ', name: 'Ada' })
    expect(answer.status).toBe(201)
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(answer.json).toEqual({
      user: {
        id: expect.stringMatching(UUID),
        email: 'ada.lovelace@example.com',
        name: 'Ada',
        role: 'customer',
        scopes: null,
        email_verified: false,
        phone: null,
        locale: null,
        metadata: {},
        marketing_consent: false,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      },
      access_token: expect.any(String),
      refresh_token: expect.stringMatching(/^rt_[\w-]{64}\.test\.[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 900
    })
    expect((await app.request('GET', '/api/auth/me', { token: answer.json.access_token })).json).toEqual(
      answer.json.user
    )
  })

  test('an e-mail address can register once in any letter case, also by simultaneous registrations', async () => {
    const email = newEmail()
    const answers = await Promise.all(
      [email, email.toUpperCase(), ` ${email} `].map(each => register({ email: each }))
    )
    expect(answers.map(each => each.status).sort()).toEqual([201, 409, 409])
    const { code, errors } = answers.find(each => each.status === 409)?.json ?? {}
    expect([code, errors]).toEqual([
      'AUTH_EMAIL_TAKEN',
      [{ path: 'body/email', message: 'has an account here already' }]
    ])
  })

  const good = { email: 'new.person@example.com', password: PASSWORD }
  test.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['a list', [good]],
    ['a string', '"text"'],
    ['null', 'null'],
    ['broken JSON', '{"email":'],
    ['the same key twice', `{"email":"a@b.c","email":"d@e.f","password":"${PASSWORD}"}`],
    ['__proto__', `{"__proto__":{"role":"admin"},"email":"a@b.c","password":"${PASSWORD}"}`],
    ['a role', { ...good, role: 'admin' }],
    ['an id', { ...good, id: ABSENT }],
    ['an unknown property', { ...good, is_admin: true }],
    ['no e-mail', { password: PASSWORD }],
    ['no password', { email: good.email }],
    ['an e-mail that is a number', { ...good, email: 7 }],
    ['an e-mail that is a list', { ...good, email: [good.email] }],
    ['an e-mail without @', { ...good, email: 'new.person.example.com' }],
    ['an e-mail with two @', { ...good, email: 'new@person@example.com' }],
    ['an e-mail with a space', { ...good, email: 'new person@example.com' }],
    ['an e-mail with a line break', { ...good, email: 'new@example.com\r\nBcc: all@example.com' }],
    ['an e-mail with NUL', { ...good, email: 'new\u0000@example.com' }],
    ['an e-mail with a lone surrogate', { ...good, email: 'new\ud800@example.com' }],
    ['an e-mail that is too long', { ...good, email: `${'n'.repeat(60)}@${'e'.repeat(250)}.com` }],
    ['an empty e-mail', { ...good, email: '' }],
    ['a blank e-mail', { ...good, email: '   ' }],
    ['an empty password', { ...good, password: '' }],
    ['a null password', { ...good, password: null }],
    ['a short password', { ...good, password: 'elevenchars' }],
    ['a password that is too long', { ...good, password: 'long '.repeat(60) }],
    ['a common password', { ...good, password: 'Password1234!' }],
    ['the e-mail as password', { ...good, password: 'new.person the second' }],
    ['the shop as password', { ...good, password: 'my Cartwright account' }],
    ['a password with NUL', { ...good, password: `${PASSWORD}\u0000` }],
    ['a name with a line break', { ...good, name: 'Ada\nLovelace' }],
    ['an empty name', { ...good, name: '' }],
    ['a name that is too long', { ...good, name: 'n'.repeat(201) }],
    ['a name that is a number', { ...good, name: 1 }]
  ])('a registration with %s is rejected with 400 and creates no account', async (_what, body) => {
    const answer = await app.request('POST', '/api/auth/register', { body })
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toContain('application/problem+json')
    expect(answer.json.code).toMatch(
      /^(VALIDATION_FAILED|MALFORMED_JSON|MALFORMED_REQUEST|AUTH_EMAIL_INVALID|AUTH_PASSWORD_TOO_WEAK)$/
    )
    expect(answer.text).not.toContain(PASSWORD)
    const found = await runSql(app.databaseUrl, `select id from auth.users where email ~ '^(new|a@|d@)'`)
    expect(found).toEqual([])
  })

  test('a registration with an invalid e-mail address and a weak password reports both in one response', async () => {
    const body = { email: 'ada at example.com', password: 'qzvk' }
    const { status, json } = await app.request('POST', '/api/auth/register', { body })
    expect([status, json.code]).toEqual([400, 'AUTH_EMAIL_INVALID'])
    expect(json.errors.map(({ path }: { path: string }) => path)).toEqual(['body/email', 'body/password'])
    const worse = await app.request('POST', '/api/auth/register', {
      body: { email: 'ada at example.com', password: 'cartwright', locale: '--' }
    })
    expect(worse.json.errors).toEqual([
      { path: 'body/email', message: 'must be an e-mail address, such as ada@example.com' },
      { path: 'body/password', message: 'must be at least 12 characters long' },
      { path: 'body/password', message: 'must not contain the name of the shop' },
      { path: 'body/locale', message: 'must be a language, with or without a country, such as sv-SE' }
    ])
    const good = await register({ email: 'ada at example.com' })
    expect(good.json.errors.map(({ path }: { path: string }) => path)).toEqual(['body/email'])
  })

  test('a registration reports why a password is rejected', async () => {
    const answer = await register({ password: 'qzvk' })
    expect(answer.json).toMatchObject({ code: 'AUTH_PASSWORD_TOO_WEAK', reason: 'too_short', length_min: 12 })
  })

  test.each([
    [{ password: 'qzvk' }, 'body/password', 'must be at least 12 characters long'],
    [{ password: 'Password1234!' }, 'body/password', 'must not be a common password'],
    [{ password: 'abababababababab' }, 'body/password', 'must not repeat the same characters'],
    [{ password: 'abcdefghijkl123' }, 'body/password', 'must not be a sequence of letters, digits or keys'],
    [
      { password: 'new.person the second', email: 'new.person@example.com' },
      'body/password',
      'must not contain the name in your e-mail address'
    ],
    [{ password: 'my Cartwright account' }, 'body/password', 'must not contain the name of the shop'],
    [{ email: 'nonsense' }, 'body/email', 'must be an e-mail address, such as ada@example.com'],
    [{ email: undefined }, 'body/email', 'is required']
  ])('a registration with %j reports the invalid field and a message for it', async (over, path, message) => {
    const { status, json } = await register(over)
    expect([status, json.errors]).toEqual([400, [{ path, message }]])
  })

  test('SQL in the fields of a registration is stored as text', async () => {
    const name = `Robert'); drop table auth.users; --`
    const answer = await register({ name, password: `' or 1=1; -- ${PASSWORD}` })
    expect(answer.json.user.name).toBe(name)
  })
})

describe('log in', () => {
  test('a log-in returns 200 and a session in the same shape as a registration', async () => {
    const { email, json } = await register()
    const answer = await logIn(email.toUpperCase())
    expect(answer.status).toBe(200)
    expect(answer.json.user).toEqual(json.user)
    expect(Object.keys(answer.json).sort()).toEqual(Object.keys(json).sort())
  })

  test('a log-in accepts the same password in other Unicode code points', async () => {
    const { email } = await register({ password: 'caf\u00e9 \ufb01ve o\u2019clock' })
    expect((await logIn(email, 'cafe\u0301 five o\u2019clock')).status).toBe(200)
  })

  test('a log-in with a wrong password, an unknown address or a disabled account gets the same response', async () => {
    const { email } = await register()
    const disabled = await register()
    await runSql(app.databaseUrl, 'update auth.users set disabled_at = now() where email = $1', [
      disabled.email
    ])
    const answers = [
      await logIn(email, 'not the right password'),
      await logIn(newEmail()),
      await logIn(disabled.email),
      await logIn('not an address')
    ]
    const shown = answers.map(({ status, headers, json }) => {
      const { request_id: _, ...problem } = json
      return { status, challenge: headers['www-authenticate'], problem }
    })
    expect(shown[0]).toMatchObject({
      status: 401,
      challenge: 'Bearer',
      problem: { code: 'AUTH_INVALID_CREDENTIALS' }
    })
    expect(shown).toEqual(shown.map(() => shown[0]))
  })

  test('an account of an external issuer cannot log in with any password', async () => {
    await runSql(
      app.databaseUrl,
      `insert into auth.users (id, email, role) values (gen_random_uuid(), 'external@example.com', 'customer')`
    )
    for (const password of ['null', 'undefined', PASSWORD, ' ']) {
      expect((await logIn('external@example.com', password)).status).toBe(401)
    }
    expect((await register({ email: 'external@example.com' })).status).toBe(201)
  })
})

describe('the own account', () => {
  test('users can change and remove the name of their own account, but not change its role or e-mail address', async () => {
    const { json } = await register({ name: 'Ada' })
    const patch = (body: unknown) => app.request('PATCH', '/api/auth/me', { token: json.access_token, body })
    expect((await patch({ name: 'Grace' })).json).toEqual({ ...json.user, name: 'Grace' })
    expect((await patch({ name: null })).json.name).toBeNull()
    for (const body of [{ role: 'admin' }, { name: 'x', role: 'admin' }, { email: 'a@b.c' }, { name: 7 }]) {
      expect((await patch(body)).status).toBe(400)
    }
  })
})

describe('a password change', () => {
  const change = (token: string, current: string, next: string) =>
    app.request('POST', '/api/auth/password', {
      token,
      body: { current_password: current, new_password: next }
    })

  test('a password change ends every other session and keeps the current one', async () => {
    const { email, json: here } = await register()
    const { json: there } = await logIn(email)
    const next = 'eleven lives and a cello'
    expect((await change(here.access_token, PASSWORD, next)).status).toBe(204)

    const refresh = (token: string) =>
      app.request('POST', '/api/auth/refresh', { body: { refresh_token: token } })
    expect((await refresh(there.refresh_token)).status).toBe(401)
    expect((await refresh(here.refresh_token)).status).toBe(200)
    expect((await logIn(email)).status).toBe(401)
    expect((await logIn(email, next)).status).toBe(200)
  })

  test('a password change with a wrong current password or a weak new one is rejected', async () => {
    const { email, json } = await register()
    expect((await change(json.access_token, 'not the right password', 'eleven lives')).json).toMatchObject({
      code: 'AUTH_INVALID_CREDENTIALS',
      errors: [{ path: 'body/current_password', message: 'must be your current password' }]
    })
    expect((await change(json.access_token, PASSWORD, 'qzvk')).json).toMatchObject({
      code: 'AUTH_PASSWORD_TOO_WEAK',
      errors: [{ path: 'body/new_password', message: 'must be at least 12 characters long' }]
    })
    expect((await logIn(email)).status).toBe(200)
  })

  test('of four simultaneous password changes with the same old password, one succeeds', async () => {
    const { json } = await register()
    const answers = await Promise.all(
      [1, 2, 3, 4].map(n => change(json.access_token, PASSWORD, `the new password number ${n}`))
    )
    // Hashing slots are limited, so a slow machine rejects some requests with 503.
    const [done, ...others] = answers.map(each => each.status).sort()
    expect(done).toBe(204)
    expect(others.every(status => [401, 503].includes(status))).toBe(true)
  })

  test('a password change leaves no session of a simultaneous log-in with the old password', async () => {
    const { email, json } = await register()
    const [, ...logIns] = await Promise.all([
      change(json.access_token, PASSWORD, 'eleven lives and a cello'),
      ...Array.from({ length: 6 }, () => logIn(email))
    ])
    const opened = logIns.filter(each => each.status === 200)
    for (const { json: session } of opened) {
      const body = { refresh_token: session.refresh_token }
      expect((await app.request('POST', '/api/auth/refresh', { body })).status).toBe(401)
    }
  })
})

describe('the public keys', () => {
  test('the public keys are published at their well-known address without private parts', async () => {
    const answer = await app.request('GET', '/.well-known/jwks.json')
    expect(answer.status).toBe(200)
    expect(answer.json.keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), alg: 'EdDSA', use: 'sig' }
    ])
  })

  test('the public keys return 304 for a matching ETag and can be cached for five minutes', async () => {
    const ask = (headers: Record<string, string> = {}) =>
      app.request('GET', '/.well-known/jwks.json', { headers })
    const first = await ask()
    expect(first.headers['cache-control']).toBe('public, max-age=300')
    const again = await ask({ 'if-none-match': String(first.headers.etag) })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', first.headers.etag])
  })
})

describe('invitations', () => {
  test('invitations are created, listed page by page without their codes, and withdrawn', async () => {
    const token = await newAdmin()
    const create = () => app.request('POST', '/api/auth/invitations', { token, body: { expires_in_days: 3 } })
    const made = [await create(), await create(), await create()].map(each => each.json)
    expect(made[0].code).toMatch(/^inv_test\.[\w-]{43}$/)

    const first = (await app.request('GET', '/api/auth/invitations?limit=2&count=true', { token })).json
    expect(first.total).toBe(3)
    const url = `/api/auth/invitations?limit=2&cursor=${first.next_cursor}`
    const second = (await app.request('GET', url, { token })).json
    const listed = [...first.items, ...second.items]
    expect(listed.map(each => each.id)).toEqual(made.map(each => each.id).reverse())
    expect(JSON.stringify(listed)).not.toContain('inv_')
    expect(second.next_cursor).toBeNull()

    const remove = () => app.request('DELETE', `/api/auth/invitations/${made[0].id}`, { token })
    expect((await remove()).status).toBe(204)
    expect((await remove()).status).toBe(404)
    expect((await app.request('GET', '/api/auth/invitations?cursor=nonsense', { token })).status).toBe(400)
  })
})
