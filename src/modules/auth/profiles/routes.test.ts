import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Accounts, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { newId } from '../../../kernel/ids.ts'

let shop: Accounts
beforeAll(async () => {
  shop = await openAccounts({ CARTWRIGHT__AUTH__ADDRESSES_MAX: '3' })
})
afterAll(() => shop.close())

describe('a profile', () => {
  test('a user profile is updated partially, stored in normalised form, and cleared', async () => {
    const ada = await shop.register({ locale: 'sv-se', name: 'Ada' })
    const said = { phone: '+46 (0)8 123 456 78', marketing_consent: true }
    expect((await ada.patch('/api/auth/me', said)).json).toMatchObject({
      name: 'Ada',
      locale: 'sv-SE',
      phone: '+46812345678',
      marketing_consent: true
    })
    const [before] = await shop.sql('select marketing_consent_at from auth.users where id = $1', [ada.id])
    await ada.patch('/api/auth/me', { name: null, locale: null, marketing_consent: true })
    expect(await shop.sql('select marketing_consent_at from auth.users where id = $1', [ada.id])).toEqual([
      before
    ])
    const changed = await ada.patch('/api/auth/me', { phone: null, marketing_consent: false })
    expect(changed.json).toMatchObject({ name: null, locale: null, phone: null, marketing_consent: false })
    expect((await ada.patch('/api/auth/me', {})).json).toEqual((await ada.get('/api/auth/me')).json)
  })

  test.each([
    [{ phone: '08 123 456 78' }, 'AUTH_PHONE_INVALID', 'body/phone'],
    [{ phone: '+46' }, 'AUTH_PHONE_INVALID', 'body/phone'],
    [{ phone: 'call me' }, 'AUTH_PHONE_INVALID', 'body/phone'],
    [{ locale: 'not a locale' }, 'AUTH_LOCALE_INVALID', 'body/locale'],
    [{ locale: 'sv_SE' }, 'AUTH_LOCALE_INVALID', 'body/locale'],
    [{ marketing_consent: null }, 'VALIDATION_FAILED', 'body/marketing_consent'],
    [{ email: 'eve@example.com' }, 'VALIDATION_FAILED', 'body/email'],
    [{ role: 'admin' }, 'VALIDATION_FAILED', 'body/role'],
    [{ email_verified: true }, 'VALIDATION_FAILED', 'body/email_verified']
  ])('a user profile is not changed by the invalid fields %j', async (body, code, path) => {
    const ada = await shop.register()
    const before = (await ada.get('/api/auth/me')).json
    const { status, json } = await ada.patch('/api/auth/me', { name: 'Eve', ...body })
    expect([status, json.code, json.errors[0].path]).toEqual([400, code, path])
    expect((await ada.get('/api/auth/me')).json).toEqual(before)
  })

  test('a user profile that simultaneous requests change field by field has all changes', async () => {
    const ada = await shop.register()
    const parts = [{ name: 'Ada' }, { phone: '+46812345678' }, { locale: 'sv' }, { marketing_consent: true }]
    await Promise.all(parts.map(part => ada.patch('/api/auth/me', part)))
    expect((await ada.get('/api/auth/me')).json).toMatchObject(Object.assign({}, ...parts))
  })
})

const HOME = { name: 'Ada', line1: 'Storgatan 1', city: 'Stockholm', postal_code: '111 22', country: 'SE' }
const OFFICE = { ...HOME, company: 'Engines AB', line1: 'Lilla gatan 2', phone: '08-123 456 78' }

describe('addresses', () => {
  test('addresses of a user are stored in the form of orders, and exactly one is the default', async () => {
    const ada = await shop.register()
    const home = await ada.post('/api/auth/addresses', { address: HOME })
    expect(home.status).toBe(201)
    expect(home.json).toMatchObject({
      address: HOME,
      default_shipping: true,
      default_billing: true,
      version: 1
    })
    const office = await ada.post('/api/auth/addresses', { address: OFFICE, default_billing: true })
    expect(office.json).toMatchObject({
      address: { ...OFFICE, phone: '+46812345678' },
      default_shipping: false,
      default_billing: true
    })
    const present = await ada.get(`/api/auth/addresses/${home.json.id}`)
    expect(present.json).toMatchObject({ default_shipping: true, default_billing: false, version: 2 })
    const { items, total } = (await ada.get('/api/auth/addresses?count=true')).json
    expect([items.map((each: { id: string }) => each.id), total]).toEqual([[office.json.id, home.json.id], 2])
    expect((await ada.delete(`/api/auth/addresses/${home.json.id}`)).status).toBe(204)
    expect((await ada.get('/api/auth/addresses')).json.items).toHaveLength(1)
  })

  test('an address of a user is changed only in the version of If-Match', async () => {
    const ada = await shop.register()
    const { json, headers } = await ada.post('/api/auth/addresses', { address: OFFICE })
    const url = `/api/auth/addresses/${json.id}`
    expect(headers.etag).toBe('"1"')
    const changed = await ada.patch(url, { address: HOME }, { 'if-match': '"1"' })
    expect(changed.json).toMatchObject({ address: HOME, default_shipping: true, version: 2 })
    expect(changed.json.address).not.toHaveProperty('company')
    for (const answer of [
      await ada.patch(url, { default_shipping: false }, { 'if-match': '"1"' }),
      await ada.delete(url, undefined, { 'if-match': '"1"' })
    ])
      expect([answer.status, answer.json.code]).toEqual([412, 'AUTH_ADDRESS_STALE'])
    expect((await ada.get(url)).json).toEqual(changed.json)
  })

  test('addresses that lack a field of their country, or simultaneously exceed the limit, are rejected', async () => {
    const ada = await shop.register()
    const { postal_code: _, ...lacking } = HOME
    const wrong = await ada.post('/api/auth/addresses', { address: lacking })
    expect([wrong.status, wrong.json.code, wrong.json.errors]).toEqual([
      400,
      'AUTH_ADDRESS_INVALID',
      [{ path: 'body/address/postal_code', message: 'is required' }]
    ])
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        ada.post('/api/auth/addresses', { address: HOME, default_shipping: true })
      )
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'AUTH_ADDRESS_LIMIT',
      limit: 3
    })
    const { items } = (await ada.get('/api/auth/addresses')).json
    expect(items.filter((each: { default_shipping: boolean }) => each.default_shipping)).toHaveLength(1)
  })
})

test('if verification is required, only administrators can log in before they verify their e-mail address', async () => {
  const strict = await openAccounts({ CARTWRIGHT__AUTH__REQUIRE_VERIFIED_EMAIL: 'true' })
  onTestFinished(() => strict.close())
  const body = { email: 'ada@example.com', password: PASSWORD }
  const headers = { 'idempotency-key': newId() }
  const made = await strict.anonymous.post('/api/auth/register', body, headers)
  expect([made.status, Object.keys(made.json)]).toEqual([201, ['user']])
  expect((await strict.anonymous.post('/api/auth/register', body, headers)).json).toEqual(made.json)
  const first = await strict.sentTo(made.json.user.id, 'email')
  const refused = await strict.logIn(body.email)
  expect([refused.status, refused.json.code]).toEqual([403, 'AUTH_EMAIL_NOT_VERIFIED'])
  expect((await strict.logIn(body.email, 'not the right one')).status).toBe(401)
  const sent = await strict.sentTo(made.json.user.id, 'email')
  expect(sent?.token).not.toBe(first?.token)
  await strict.anonymous.post('/api/auth/verify', { token: sent?.token })
  expect((await strict.logIn(body.email)).json.user.email_verified).toBe(true)
  expect((await (await strict.newAdmin()).get('/api/auth/me')).status).toBe(200)
})
