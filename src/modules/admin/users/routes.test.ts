import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accounts, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { newId } from '../../../kernel/ids.ts'
import { adminModule } from '../index.ts'

const USERS = '/api/admin/users'
let shop: Accounts
let boss: Awaited<ReturnType<Accounts['newAdmin']>>
beforeAll(async () => {
  shop = await openAccounts({}, [adminModule])
  boss = await shop.newAdmin()
})
afterAll(() => shop.close())

const idsOf = async (query: string) =>
  (await boss.get(`${USERS}?${query}`)).json.items.map(({ id }: { id: string }) => id)

test('administrators find users by the beginning of the e-mail address or name, by role, and page by page', async () => {
  const ada = await shop.register({ email: 'byron.ada@example.com', name: 'Ada Lovelace' })
  const bob = await shop.register({ email: 'byron.bob@example.com', name: 'ÅKE' })
  expect(await idsOf('q=BYRON.')).toEqual([bob.id, ada.id])
  expect(await idsOf('q=ada%20love')).toEqual([ada.id])
  expect(await idsOf(`q=${encodeURIComponent('åk')}`)).toEqual([bob.id])
  expect(await idsOf('q=byron.%25')).toEqual([])
  expect(await idsOf('q=byron.&role=admin')).toEqual([])
  const first = (await boss.get(`${USERS}?q=byron.&limit=1&count=true`)).json
  expect(first).toMatchObject({ total: 2, items: [{ id: bob.id, name: 'ÅKE', disabled_at: null }] })
  expect(await idsOf(`q=byron.&limit=1&cursor=${first.next_cursor}`)).toEqual([ada.id])
  expect(first.items[0]).not.toHaveProperty('password_hash')
})

test('an administrator grants and revokes the rights of a user, and disables and enables the user', async () => {
  const ada = await shop.register()
  const of = `${USERS}/${ada.id}`
  const scoped = await boss.patch(of, { rights: { role: 'admin', scopes: ['auth'] } })
  expect(scoped).toMatchObject({ status: 200, json: { role: 'admin', scopes: ['auth'] } })
  expect((await ada.get('/api/auth/invitations')).status).toBe(200)
  expect((await ada.get(USERS)).json).toMatchObject({ code: 'AUTH_SCOPE_MISSING' })
  const wrong = await boss.patch(of, { rights: { role: 'admin', scopes: ['atuh'] } })
  expect(wrong).toMatchObject({ status: 400, json: { code: 'ADMIN_SCOPE_UNKNOWN', scope: 'atuh' } })
  expect((await boss.patch(of, { rights: { role: 'admin' } })).status).toBe(400)

  // The scope `admin` gives access to modules, but not to routes that need full access.
  await boss.patch(of, { rights: { role: 'admin', scopes: ['admin'] } })
  expect((await ada.get('/api/admin/modules')).status).toBe(200)
  for (const path of ['users', 'config', 'audit'])
    expect((await ada.get(`/api/admin/${path}`)).json.code).toBe('AUTH_SCOPE_MISSING')

  const key = { 'idempotency-key': newId() }
  const change = { rights: { role: 'customer', scopes: null }, disabled: true }
  for (let time = 0; time < 2; time += 1)
    expect((await boss.patch(of, change, key)).json).toMatchObject({
      role: 'customer',
      disabled_at: expect.any(String)
    })
  expect((await shop.logIn(ada.email)).status).toBe(401)
  expect(await idsOf('disabled=true')).toEqual([ada.id])
  expect((await boss.patch(of, { disabled: false })).json.disabled_at).toBeNull()
  expect((await shop.logIn(ada.email)).status).toBe(200)
})

test('administrators cannot revoke their own rights, and the last one with full access keeps full access', async () => {
  const other = await shop.newAdmin()
  const own = `${USERS}/${boss.id}`
  const demoted = { rights: { role: 'customer', scopes: null } }
  for (const answer of [await boss.patch(own, demoted), await boss.delete(own)])
    expect(answer).toMatchObject({ status: 409, json: { code: 'ADMIN_OWN_ACCOUNT' } })
  // Two administrators demote each other simultaneously, and one keeps full access.
  const answers = await Promise.all([boss.patch(`${USERS}/${other.id}`, demoted), other.patch(own, demoted)])
  const statuses = answers.map(({ status }) => status).sort()
  expect(statuses[0]).toBe(200)
  expect([403, 409]).toContain(statuses[1])
  const [{ left } = { left: 0 }] = await shop.sql(
    `select count(*)::int as left from auth.users where role = 'admin' and scopes is null and disabled_at is null`
  )
  expect(left).toBe(1)
  await shop.sql(`update auth.users set role = 'admin' where id = any ($1)`, [[boss.id, other.id]])
  boss = { ...boss, ...shop.as({ token: (await shop.logIn(boss.email)).json.access_token }) }
})

test('an administrator who ends one session of a user ends no other session of that or another user', async () => {
  const [ada, eve] = [await shop.register(), await shop.register()]
  const { access_token: laptop } = (await shop.logIn(ada.email)).json
  const of = `${USERS}/${ada.id}/sessions`
  const me = (caller: { token: string }) => shop.as(caller).get('/api/auth/me')
  expect((await me(ada)).status).toBe(200)
  const [newest, first] = (await boss.get(of)).json.items
  const { json: own } = await shop.as({ token: laptop }).get('/api/auth/sessions')
  expect(own.items.find(({ current }: { current: boolean }) => current).id).toBe(newest.id)

  const key = { 'idempotency-key': newId() }
  for (let time = 0; time < 2; time += 1)
    expect((await boss.delete(`${of}/${first.id}`, undefined, key)).status).toBe(204)
  expect([(await me(ada)).status, (await me({ token: laptop })).status]).toEqual([401, 200])
  expect((await boss.get(of)).json.items).toEqual([newest])
  const route = encodeURIComponent(`${USERS}/:id/sessions/:session_id`)
  expect((await boss.get(`/api/admin/audit?route=${route}&id=${first.id}`)).json.items[0]).toMatchObject({
    actor: boss.id,
    method: 'DELETE',
    params: { id: ada.id, session_id: first.id },
    status: 204
  })

  // A session is found below its own user only.
  const absent = { status: 404, json: { code: 'AUTH_SESSION_NOT_FOUND' } }
  expect(await boss.delete(`${of}/${first.id}`)).toMatchObject(absent)
  expect(await boss.delete(`${USERS}/${eve.id}/sessions/${newest.id}`)).toMatchObject(absent)
  expect((await me({ token: laptop })).status).toBe(200)
  expect(await boss.delete(`${USERS}/${newId()}/sessions/${newest.id}`)).toMatchObject({
    status: 404,
    json: { code: 'AUTH_USER_NOT_FOUND' }
  })
  expect((await eve.delete(`${of}/${newest.id}`)).status).toBe(403)
})

test('an administrator lists and ends sessions of a user, and exports and deletes the account', async () => {
  const ada = await shop.register()
  const of = `${USERS}/${ada.id}`
  expect((await boss.get(`${of}/sessions?count=true`)).json).toMatchObject({ total: 1, next_cursor: null })
  expect((await boss.delete(`${of}/sessions`)).status).toBe(204)
  expect((await boss.get(`${of}/sessions`)).json.items).toEqual([])
  expect((await ada.get('/api/auth/me')).status).toBe(401)
  const exported = (await boss.get(`${of}/export`)).json
  expect(exported).toMatchObject({ user_id: ada.id, parts: { auth: { account: { email: ada.email } } } })

  expect((await boss.delete(of)).status).toBe(204)
  expect(
    (await shop.anonymous.post('/api/auth/login', { email: ada.email, password: PASSWORD })).status
  ).toBe(401)
  const gone = [
    boss.get(of),
    boss.patch(of, { disabled: true }),
    boss.delete(of),
    boss.get(`${of}/export`),
    boss.get(`${of}/sessions`),
    boss.delete(`${of}/sessions`)
  ]
  for (const answer of await Promise.all(gone))
    expect(answer).toMatchObject({ status: 404, json: { code: 'AUTH_USER_NOT_FOUND' } })
})

test('the search for users by e-mail address or name uses an index', async () => {
  await shop.sql(
    `insert into auth.users (id, email, name, role)
     select gen_random_uuid(), 'many' || n || '@example.net', 'Many ' || n, 'customer' from generate_series(1, 5000) n`
  )
  await shop.sql('analyze auth.users')
  const { listDeclaredStatements } = await import('../../../platform/postgres/statement.ts')
  const { takes = {}, text = '' } =
    listDeclaredStatements().find(({ name }) => name === 'auth.list_users') ?? {}
  const given: Record<string, unknown> = { email: 'many77', name: 'many77', limit: 21 }
  const values = Object.keys({ ...takes }).map(name => given[name] ?? null)
  values[Object.keys(takes).indexOf('after')] = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
  const plan = (await shop.sql(`explain ${text}`, values)).map(row => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/users_email_search[\s\S]*users_name_search/)
})
