import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, NEW_PASSWORD, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { newId } from '../../../kernel/ids.ts'

type Person = Awaited<ReturnType<Accounts['newAdmin']>>
let shop: Accounts
let ada: Person
beforeAll(async () => {
  shop = await openAccounts({ CARTWRIGHT__AUTH__API_KEYS_MAX: '6' })
  // An administrator with full access remains, whatever the tests change.
  await shop.newAdmin()
  ada = await shop.newAdmin()
})
afterAll(() => shop.close())

const create = async (owner: Person, over: object = {}) =>
  (await owner.post('/api/auth/api-keys', { name: 'stock of the warehouse', ...over })).json
const exchange = (api_key: string) => shop.anonymous.post('/api/auth/token', { api_key })
const machine = async (api_key: string) => shop.as({ token: (await exchange(api_key)).json.access_token })
const setRights = (id: string, role: 'customer' | 'admin', scopes: string[] | null) =>
  shop.db.transaction(tx => shop.auth.setRoleById(tx, id, role, scopes))
const INVITATIONS = '/api/auth/invitations'

describe('an API key', () => {
  test('an API key is shown once, and is exchanged for tokens of fifteen minutes with its scopes', async () => {
    const made = await create(ada, { scopes: ['auth'], expires_in_days: 7 })
    expect(made).toMatchObject({
      name: 'stock of the warehouse',
      scopes: ['auth'],
      last_used_at: null,
      api_key: expect.stringMatching(/^ak_test\.[\w-]{43}$/)
    })
    const { status, json, headers } = await exchange(made.api_key)
    expect([status, json.token_type, json.expires_in, headers['cache-control']]).toEqual([
      ...[200, 'Bearer', 900, 'no-store']
    ])
    const bot = shop.as({ token: json.access_token })
    expect((await bot.get(INVITATIONS)).status).toBe(200)
    const { items } = (await ada.get('/api/auth/api-keys')).json
    const listed = items.find((each: { id: string }) => each.id === made.id)
    expect(listed).toMatchObject({ name: made.name, last_used_at: expect.any(String) })
    expect(JSON.stringify(items)).not.toContain(made.api_key)

    const other = await create(ada, { scopes: ['catalog'] })
    const refused = await (await machine(other.api_key)).get(INVITATIONS)
    expect([refused.status, refused.json.scope]).toEqual([403, 'auth'])
  })

  test('revoking an API key also revokes its tokens', async () => {
    const { id, api_key } = await create(ada)
    const bot = await machine(api_key)
    expect((await bot.get(INVITATIONS)).status).toBe(200)
    expect((await ada.delete(`/api/auth/api-keys/${id}`)).status).toBe(204)
    expect((await bot.get(INVITATIONS)).status).toBe(401)
    expect((await exchange(api_key)).status).toBe(401)
    expect((await ada.get(INVITATIONS)).status).toBe(200)
  })

  test('an API key never has more rights than its owner has now', async () => {
    const bob = await shop.newAdmin()
    const { api_key } = await create(bob)
    const bot = await machine(api_key)
    expect((await bot.get(INVITATIONS)).status).toBe(200)
    await setRights(bob.id, 'admin', ['catalog'])
    expect((await bot.get(INVITATIONS)).status).toBe(403)
    await setRights(bob.id, 'customer', null)
    expect([(await bot.get(INVITATIONS)).status, (await exchange(api_key)).status]).toEqual([401, 401])
    await setRights(bob.id, 'admin', null)
    expect((await bot.get(INVITATIONS)).status).toBe(200)
    await shop.auth.setDisabled(bob.email, true)
    expect([(await bot.get(INVITATIONS)).status, (await exchange(api_key)).status]).toEqual([401, 401])
  })

  test('an API key is created only by a user who has its scopes, up to a limit', async () => {
    const bob = await shop.newAdmin()
    await setRights(bob.id, 'admin', ['auth'])
    const more = await bob.post('/api/auth/api-keys', { name: 'too much', scopes: ['auth', 'orders'] })
    expect([more.status, more.json]).toMatchObject([
      403,
      { code: 'AUTH_API_KEY_SCOPES', missing: ['orders'] }
    ])
    const { api_key } = await create(bob, { scopes: null })
    const bot = await machine(api_key)
    const byMachine = await bot.post('/api/auth/api-keys', { name: 'another one' })
    expect([byMachine.status, byMachine.json.code]).toEqual([403, 'PERSON_REQUIRED'])
    for (let times = 0; times < 5; times += 1) await create(bob)
    const last = await bob.post('/api/auth/api-keys', { name: 'one too many' })
    expect([last.status, last.json]).toMatchObject([409, { code: 'AUTH_API_KEY_LIMIT', limit: 6 }])
  })

  test('a wrong, cut or expired API key gets AUTH_INVALID_API_KEY', async () => {
    const bob = await shop.newAdmin()
    const { id, api_key } = await create(bob)
    await shop.sql('update auth.api_keys set expires_at = now() where id = $1', [id])
    const answers = []
    for (const text of [
      api_key,
      api_key.slice(0, -1),
      `${api_key}A`,
      'ak_test.x',
      PASSWORD,
      bob.token.slice(0, 200)
    ])
      answers.push(await exchange(text))
    expect(answers.map(({ status, json }) => [status, json.code])).toEqual(
      answers.map(() => [401, 'AUTH_INVALID_API_KEY'])
    )
  })

  test('an API key of another account is not found, and customers and guests cannot manage API keys', async () => {
    const { id } = await create(await shop.newAdmin())
    const bob = await shop.newAdmin()
    for (const each of [id, newId()])
      expect((await bob.delete(`/api/auth/api-keys/${each}`)).json.code).toBe('AUTH_API_KEY_NOT_FOUND')
    expect((await bob.get('/api/auth/api-keys')).json.items).toEqual([])
    const customer = await shop.register()
    for (const [caller, status] of [
      [customer, 403],
      [shop.anonymous, 401]
    ] as const)
      for (const answer of [
        await caller.get('/api/auth/api-keys'),
        await caller.post('/api/auth/api-keys', { name: 'x' }),
        await caller.delete(`/api/auth/api-keys/${id}`)
      ])
        expect(answer.status).toBe(status)
  })

  test('a repeated creation of an API key returns the same key, which is in no log and no table', async () => {
    const bob = await shop.newAdmin()
    const key = { 'idempotency-key': newId() }
    const [first, again] = [
      await bob.post('/api/auth/api-keys', { name: 'x' }, key),
      await bob.post('/api/auth/api-keys', { name: 'x' }, key)
    ]
    expect([again.status, again.json]).toEqual([201, first.json])
    const secret = first.json.api_key.slice(-43)
    await exchange(first.json.api_key)
    const rows = await shop.sql(`select k::text from auth.api_keys k
      union all select i::text from cartwright.idempotency_keys i union all select a::text from cartwright.audit a`)
    expect([...shop.log, JSON.stringify(rows)].join('\n')).not.toContain(secret)
  })

  test('an API key is created only within five minutes after a log-in, and its creation is published', async () => {
    const bob = await shop.newAdmin()
    const make = (headers = {}) => bob.post('/api/auth/api-keys', { name: 'warehouse' }, headers)
    const again = { 'idempotency-key': newId() }
    const { status, json } = await make(again)
    expect(status).toBe(201)
    await expect
      .poll(() => shop.heardOf(bob.id, 'auth.api_key_created'))
      .toEqual([{ user_id: bob.id, api_key_id: json.id, name: 'warehouse' }])
    const age = (minutes: number) =>
      shop.sql(`update auth.sessions set created_at = now() - make_interval(mins => $2) where user_id = $1`, [
        bob.id,
        minutes
      ])
    const refused = { status: 403, json: { code: 'AUTH_RECENT_LOGIN_REQUIRED', max_age_seconds: 300 } }
    const { json: session } = await shop.logIn(bob.email)
    await age(6)
    const late = shop.as({ token: session.access_token })
    const makeLate = (headers = {}) => late.post('/api/auth/api-keys', { name: 'warehouse' }, headers)
    expect(await makeLate()).toMatchObject(refused)
    // A retry of the request that created the key gets the same response at any time.
    expect(await makeLate(again)).toMatchObject({ status: 201, json })
    const { refresh_token } = session
    const { json: refreshed } = await shop.anonymous.post('/api/auth/refresh', { refresh_token })
    const later = shop.as({ token: refreshed.access_token })
    expect(await later.post('/api/auth/api-keys', { name: 'warehouse' })).toMatchObject(refused)
    const { json: fresh } = await shop.logIn(bob.email)
    await age(4)
    const soon = shop.as({ token: fresh.access_token })
    expect((await soon.post('/api/auth/api-keys', { name: 'warehouse' })).status).toBe(201)
  })

  test('an API key is revoked when its owner changes the password, unless the request keeps API keys', async () => {
    const bob = await shop.newAdmin()
    const other = await create(ada)
    const works = async (api_key: string) => (await exchange(api_key)).status
    const change = (current_password: string, new_password: string, more: object = {}) =>
      bob.post('/api/auth/password', { current_password, new_password, ...more })
    const kept = await create(bob)
    const bot = await machine(kept.api_key)
    expect((await change(PASSWORD, NEW_PASSWORD, { keep_api_keys: true })).status).toBe(204)
    expect([await works(kept.api_key), (await bot.get(INVITATIONS)).status]).toEqual([200, 200])
    expect((await change(NEW_PASSWORD, PASSWORD)).status).toBe(204)
    expect([await works(kept.api_key), (await bot.get(INVITATIONS)).status]).toEqual([401, 401])

    const { api_key } = await create(bob)
    await shop.anonymous.post('/api/auth/forgot', { email: bob.email })
    const sent = await shop.sentTo(bob.id, 'password')
    const reset = { token: sent?.token, password: NEW_PASSWORD }
    expect((await shop.anonymous.post('/api/auth/reset', reset)).status).toBe(204)
    expect([await works(api_key), await works(other.api_key)]).toEqual([401, 200])
  })
})
