import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, useTestApp } from '../../../../test/support/app.ts'
import { useTestDatabaseUrl } from '../../../../test/support/database.ts'
import { SECRET_SETTINGS } from '../../../../test/support/secrets.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { loadConfig } from '../../../config.ts'
import { parseEmail } from '../../../kernel/email.ts'
import { openLog } from '../../../platform/log.ts'
import { openPlatform } from '../../../platform/platform.ts'
import { setUpModules } from '../../../set-up.ts'
import { authModule } from '../index.ts'
import { findRegistrationError } from './registration.ts'

const PASSWORD = 'nine lives and a piano'

shareShops()

describe('registration rules', () => {
  const anonymous = { email: 'ada@example.com', isInvited: false }
  const rules = { registration: 'open', email_domains: [] } as const

  test.each([
    ['every visitor, when open', rules, anonymous, undefined],
    [
      'no visitor, when closed',
      { ...rules, registration: 'closed' as const },
      anonymous,
      'AUTH_REGISTRATION_CLOSED'
    ],
    [
      'not even the invited, when closed',
      { ...rules, registration: 'closed' as const },
      { ...anonymous, isInvited: true },
      'AUTH_REGISTRATION_CLOSED'
    ],
    [
      'no visitor without an invitation',
      { ...rules, registration: 'invite' as const },
      anonymous,
      'AUTH_INVITATION_REQUIRED'
    ],
    [
      'the invited',
      { ...rules, registration: 'invite' as const },
      { ...anonymous, isInvited: true },
      undefined
    ],
    ['members of a domain', { ...rules, email_domains: ['Example.com'] }, anonymous, undefined],
    [
      'not members of a domain below it',
      { ...rules, email_domains: ['example.com'] },
      { ...anonymous, email: 'ada@mail.example.com' },
      'AUTH_EMAIL_DOMAIN_NOT_ALLOWED'
    ],
    [
      'not members of a domain that ends alike',
      { ...rules, email_domains: ['example.com'] },
      { ...anonymous, email: 'ada@notexample.com' },
      'AUTH_EMAIL_DOMAIN_NOT_ALLOWED'
    ]
  ])('the registration settings decide who may register: %s', (_who, given, applicant, code) => {
    expect(findRegistrationError(given, applicant)?.code).toBe(code)
  })
})

describe('an e-mail address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    [' Ada+Shop@Example.COM\t', 'ada+shop@example.com'],
    ["o'neil_1@sub.example-host.co.uk", "o'neil_1@sub.example-host.co.uk"],
    ['ärger@müller.example', 'ärger@müller.example'],
    ['root@localhost', 'root@localhost'],
    ['\uff21da@\uff25xample.com', 'ada@example.com'],
    ['ada\uff20example.com', 'ada@example.com'],
    ['cafe\u0301@example.com', 'café@example.com'],
    ['ada@xn--mller-kva.example', 'ada@müller.example'],
    ['ada@MÜLLER.example', 'ada@müller.example'],
    ['иван@почта.рф', 'иван@почта.рф'],
    ['иван@example.com', 'иван@example.com'],
    ['вася@xn--80a1acny.xn--p1ai', 'вася@почта.рф'],
    ['田中taro@example.jp', '田中taro@example.jp'],
    ['とうきょう@例え.テスト', 'とうきょう@例え.テスト'],
    ['राम@उदाहरण.भारत', 'राम@उदाहरण.भारत'],
    ['김@예시.한국', '김@예시.한국'],
    ['ян2000@example.com', 'ян2000@example.com'],
    ['аса@почта.рф', 'аса@почта.рф']
  ])('the e-mail address %j is stored as %j', (text, stored) => {
    expect(parseEmail(text)).toBe(stored)
  })

  test.each([
    '',
    '@',
    'a@',
    '@b',
    'ab',
    'a@b@c',
    'a b@c.d',
    'a@b c.d',
    'a@b..c',
    'a@.b',
    'a@b.',
    'a\u0000@b.c',
    'a\n@b.c',
    'a\u200b@b.c',
    '<a@b.c>',
    'a,b@c.d',
    'a;b@c.d',
    '"a b"@c.d',
    'a@b_c.d',
    '\u0430da@example.com', // a Cyrillic letter among Latin ones
    'ada@ex\u0430mple.com',
    'ada@xn--exmple-4nf.com', // the same, encoded
    '\u0430\u0441\u0430@example.com', // aca, all Cyrillic
    'ada@\u0430\u0441\u0430.com',
    '\u03bf\u03bd@example.com',
    'a\u0501@example.com',
    'a\u00adda@example.com',
    'ada\u034f@example.com',
    'ada\ufe0f@example.com',
    'ada\u3164@example.com',
    'ada@xn--a.example',
    'ᏚᎪᏞᎬ@example.com',
    'ada\ufe6b@example.com@example.com',
    'a@[127.0.0.1]',
    `${'a'.repeat(65)}@b.c`,
    `a@${'b.'.repeat(130)}c`
  ])('the text %j is not an e-mail address', text => {
    expect(parseEmail(text)).toBeUndefined()
  })
})

let people = 0

async function useApp(settings: Record<string, string>) {
  const app = await useTestApp(settings)
  const api = app.apiOf(authModule)
  if (api === undefined) throw new Error('auth is disabled')
  return {
    app,
    register: (over: object = {}) => {
      const body = { email: `person${++people}@example.com`, password: PASSWORD, ...over }
      return app.request('POST', '/api/auth/register', { body })
    },
    async newAdmin() {
      const body = { email: `boss${++people}@example.com`, password: PASSWORD }
      await api.createUser({ ...body, role: 'admin' })
      const { json } = await app.request('POST', '/api/auth/login', { body })
      return { email: body.email, token: json.access_token as string }
    }
  }
}

describe('registration', () => {
  test('while registration is closed, it is rejected with 403, also with an invitation', async () => {
    const { register } = await useApp({ CARTWRIGHT__AUTH__REGISTRATION: 'closed' })
    const answer = await register({ invitation: 'inv_anything' })
    expect(answer.status).toBe(403)
    expect(answer.json.code).toBe('AUTH_REGISTRATION_CLOSED')
  })

  test('registration with an e-mail domain that is not allowed is rejected', async () => {
    const { register } = await useApp({ CARTWRIGHT__AUTH__EMAIL_DOMAINS: '[shop.example]' })
    const { code, errors } = (await register()).json
    expect([code, errors[0].path]).toEqual(['AUTH_EMAIL_DOMAIN_NOT_ALLOWED', 'body/email'])
    expect((await register({ email: 'ada@SHOP.example' })).status).toBe(201)
  })

  test('registration by invitation accepts each code once, and rejects unknown, withdrawn and empty codes', async () => {
    const { app, register, newAdmin } = await useApp({ CARTWRIGHT__AUTH__REGISTRATION: 'invite' })
    const { token, email } = await newAdmin()
    const invite = async () => (await app.request('POST', '/api/auth/invitations', { token, body: {} })).json

    const answers = [await register(), await register({ invitation: 'inv_unknown' })]
    const refused = [403, 'AUTH_INVITATION_REQUIRED', 'body/invitation']
    expect(answers.map(({ status, json }) => [status, json.code, json.errors?.[0].path])).toEqual([
      refused,
      refused
    ])
    expect((await register({ invitation: '' })).status).toBe(400)
    expect((await register({ invitation: null })).status).toBe(400)

    const withdrawn = await invite()
    await app.request('DELETE', `/api/auth/invitations/${withdrawn.id}`, { token })
    expect((await register({ invitation: withdrawn.code })).status).toBe(403)

    const good = await invite()
    expect((await register({ invitation: good.code, password: 'short' })).status).toBe(400)
    expect((await register({ invitation: good.code, email })).status).toBe(409)
    const racing = await Promise.all(Array.from({ length: 6 }, () => register({ invitation: good.code })))
    expect(racing.map(each => each.status).sort()).toEqual([201, 403, 403, 403, 403, 403])
    const winner = racing.find(each => each.status === 201)?.json.user
    const { items } = (await app.request('GET', '/api/auth/invitations', { token })).json
    expect(items[0]).toMatchObject({ id: good.id, used_by: winner.id, used_at: expect.any(String) })
  })

  test('registration with an expired invitation code is rejected and leaves the code unused', async () => {
    const { app, register, newAdmin } = await useApp({ CARTWRIGHT__AUTH__REGISTRATION: 'invite' })
    const { token } = await newAdmin()
    const { id, code } = (await app.request('POST', '/api/auth/invitations', { token, body: {} })).json
    const moveExpiry = (by: string) =>
      runSql(app.databaseUrl, 'update auth.invitations set expires_at = now() + $1::interval where id = $2', [
        by,
        id
      ])

    await moveExpiry('-1 second')
    const { status, json } = await register({ invitation: code })
    expect([status, json.code, json.errors?.[0].path]).toEqual([
      403,
      'AUTH_INVITATION_REQUIRED',
      'body/invitation'
    ])
    const { items } = (await app.request('GET', '/api/auth/invitations', { token })).json
    expect(items[0]).toMatchObject({ id, used_by: null, used_at: null })

    // The same code is accepted before its expiry, so the expiry is the only reason for the rejection.
    await moveExpiry('1 minute')
    expect((await register({ invitation: code })).status).toBe(201)
  })
})

describe('e-mail addresses that look alike', () => {
  test('e-mail addresses that differ only in spelling are one account', async () => {
    const { app, register } = await useApp({})
    expect((await register({ email: 'ada@müller.example' })).status).toBe(201)
    for (const email of [
      'ADA@XN--MLLER-KVA.EXAMPLE',
      '\uff41da@müller.example',
      'ada@mu\u0308ller.example'
    ]) {
      expect((await register({ email })).json.code).toBe('AUTH_EMAIL_TAKEN')
      const answer = await app.request('POST', '/api/auth/login', { body: { email, password: PASSWORD } })
      expect(answer.json.user?.email).toBe('ada@müller.example')
    }
  })

  test('accounts whose addresses were stored before normalisation can still log in', async () => {
    const { app, register } = await useApp({})
    await register({ email: 'ada@example.com' })
    const { json } = await register({ email: 'other@example.com' })
    await runSql(app.databaseUrl, 'update auth.users set email = $1 where id = $2', [
      '\uff41da@example.com',
      json.user.id
    ])
    const who = async (email: string) =>
      (await app.request('POST', '/api/auth/login', { body: { email, password: PASSWORD } })).json.user
    expect((await who('\uff21da@example.com')).id).toBe(json.user.id)
    expect((await who('ada@example.com')).email).toBe('ada@example.com')
    await runSql(app.databaseUrl, 'update auth.users set email = $1 where id = $2', [
      '\u0430da@example.com',
      json.user.id
    ])
    expect((await who('\u0430da@example.com')).id).toBe(json.user.id)
  })
})

describe('the first administrator', () => {
  const named = { CARTWRIGHT_ADMIN_EMAIL: 'Boss@example.com', CARTWRIGHT_ADMIN_PASSWORD: PASSWORD }

  test('the first administrator is created once at the start from the configuration', async () => {
    needsOwnShop()
    const { app } = await useApp(named)
    const body = { email: 'boss@example.com', password: PASSWORD }
    expect((await app.request('POST', '/api/auth/login', { body })).json.user.role).toBe('admin')
    expect(await app.apiOf(authModule)?.createFirstAdmin()).toBeNull()
  })

  test.each([
    [
      'a weak password',
      { ...named, CARTWRIGHT_ADMIN_PASSWORD: 'admin' },
      /admin_password: must be at least 12 characters/
    ],
    ['no password', { ...named, CARTWRIGHT_ADMIN_PASSWORD: '' }, /admin_password: must be set/],
    ['no address', { ...named, CARTWRIGHT_ADMIN_EMAIL: '' }, /admin_email: must be set/],
    [
      'something that is no address',
      { ...named, CARTWRIGHT_ADMIN_EMAIL: 'boss' },
      /admin_email: must be an e-mail address/
    ]
  ])(
    'a first administrator configured with %s prevents the start and reports the reason',
    async (_what, settings, reason) => {
      await expect(createTestApp(settings, await useTestDatabaseUrl())).rejects.toThrow(reason)
    }
  )

  test('three simultaneous calls create the first administrator once, and one call gets the password', async () => {
    needsOwnShop()
    const { app } = await useApp({})
    const api = app.apiOf(authModule)
    expect(await api?.hasAdmin()).toBe(false)
    const made = await Promise.all(Array.from({ length: 3 }, () => api?.createFirstAdmin()))
    const told = made.filter(each => each !== null)
    expect(told).toHaveLength(1)
    expect(await api?.hasAdmin()).toBe(true)
    const answer = await app.request('POST', '/api/auth/login', { body: told[0] })
    expect(answer.json.user).toMatchObject({ email: 'admin@example.com', role: 'admin' })
  })

  test('four processes that start simultaneously create the first administrator of the configuration once', async () => {
    needsOwnShop()
    const databaseUrl = await useTestDatabaseUrl()
    const config = loadConfig([authModule], {
      ...SECRET_SETTINGS,
      CARTWRIGHT__LOG__LEVEL: 'silent',
      ...named
    })
    const log = openLog(config.log)
    const platforms = await Promise.all(
      Array.from({ length: 4 }, () => openPlatform(config, databaseUrl, log))
    )
    onTestFinished(async () => {
      await Promise.all(platforms.map(each => each.close()))
    })
    const started = await Promise.allSettled(platforms.map(each => setUpModules([authModule], each)))
    expect(started.map(each => each.status)).toEqual(Array(4).fill('fulfilled'))
    expect(await runSql(databaseUrl, `select email from auth.users where role = 'admin'`)).toHaveLength(1)
  })

  test('the first administrator is not generated in production', async () => {
    needsOwnShop()
    const { app } = await useApp({ NODE_ENV: 'production' })
    expect(await app.apiOf(authModule)?.createFirstAdmin()).toBeNull()
    expect(await app.apiOf(authModule)?.hasAdmin()).toBe(false)
  })

  test('the first administrator is not made from a customer who has the configured e-mail address', async () => {
    needsOwnShop()
    const { app, register } = await useApp({})
    await register({ email: 'admin@example.com' })
    expect(await app.apiOf(authModule)?.createFirstAdmin()).toBeNull()
    expect(await app.apiOf(authModule)?.hasAdmin()).toBe(false)
  })
})

test('two external token issuers with the same URL prevent the start', async () => {
  const twice = { issuer: 'https://id.example.com', audience: 'shop' }
  const settings = { CARTWRIGHT__AUTH__ISSUERS: JSON.stringify([twice, { ...twice, audience: 'other' }]) }
  await expect(createTestApp(settings, await useTestDatabaseUrl())).rejects.toThrow(
    /issuers\.1\.issuer.*https:\/\/id\.example\.com/
  )
  const own = {
    CARTWRIGHT__AUTH__ISSUERS: JSON.stringify([twice]),
    CARTWRIGHT__SERVER__PUBLIC_URL: twice.issuer
  }
  await expect(createTestApp(own, await useTestDatabaseUrl())).rejects.toThrow(/server\.public_url/)
})
