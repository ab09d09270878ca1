import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, openAccounts } from '../../../../test/support/accounts.ts'
import { newId } from '../../../kernel/ids.ts'
import { noContent } from '../../../kernel/wire.ts'
import { defineModule } from '../../../module.ts'

/** A module whose administration requires a scope. */
const diaryModule = defineModule({
  name: 'diary',
  description: 'Has administrators of its own.',
  basePaths: ['/api/admin/diary'],
  requires: {},
  uses: {},
  setup: async () => ({
    api: {},
    routes: tiers =>
      tiers.admin.get(
        '/admin/diary',
        { config: { class: 'account' }, schema: { summary: 'Read', response: noContent } },
        async () => {}
      )
  })
})

let shop: Accounts
let boss: Awaited<ReturnType<Accounts['newAdmin']>>
beforeAll(async () => {
  shop = await openAccounts({}, [diaryModule])
  boss = await shop.newAdmin()
})
afterAll(() => shop.close())

const inTransaction = (work: Parameters<Accounts['db']['transaction']>[0]) => shop.db.transaction(work)
const grant = (id: string, role: 'customer' | 'admin', scopes: string[] | null) =>
  inTransaction(tx => shop.auth.setRoleById(tx, id, role, scopes))
const mayWrite = async ({ get }: typeof boss) => (await get('/api/admin/diary')).status
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('administrator scopes', () => {
  test('scopes limit an administrator to the named modules from the next request on', async () => {
    const ada = await shop.newAdmin()
    expect([await mayWrite(ada), (await ada.get('/api/auth/invitations')).status]).toEqual([204, 200])
    await grant(ada.id, 'admin', ['auth'])
    const refused = await ada.get('/api/admin/diary')
    expect([refused.status, refused.json]).toMatchObject([
      403,
      { code: 'AUTH_SCOPE_MISSING', scope: 'diary' }
    ])
    expect((await ada.get('/api/auth/invitations')).status).toBe(200)
    expect((await ada.get('/api/auth/me')).json).toMatchObject({ role: 'admin', scopes: ['auth'] })
    await grant(ada.id, 'admin', ['diary'])
    expect([await mayWrite(ada), (await ada.get('/api/auth/invitations')).status]).toEqual([204, 403])
    await grant(ada.id, 'admin', [])
    expect(await mayWrite(ada)).toBe(403)
    await grant(ada.id, 'admin', null)
    expect(await mayWrite(ada)).toBe(204)
    await grant(ada.id, 'customer', ['diary'])
    expect((await ada.get('/api/admin/diary')).json.code).toBe('ADMIN_REQUIRED')
    expect((await ada.get('/api/auth/me')).json.scopes).toBeNull()
  })

  test("an administrator's new tokens have the current scopes, and a revoked scope in an old token gives no access", async () => {
    const ada = await shop.newAdmin()
    expect(claimsOf(ada.token)).not.toHaveProperty('scopes')
    await grant(ada.id, 'admin', ['diary'])
    const { json } = await shop.logIn(ada.email)
    expect(claimsOf(json.access_token)).toMatchObject({ role: 'admin', scopes: ['diary'] })
    const refreshed = await shop.anonymous.post('/api/auth/refresh', { refresh_token: json.refresh_token })
    expect(claimsOf(refreshed.json.access_token).scopes).toEqual(['diary'])
    await grant(ada.id, 'admin', ['auth'])
    expect((await shop.as({ token: json.access_token }).get('/api/admin/diary')).status).toBe(403)
  })

  test('scopes give customers and guests no access to administration', async () => {
    const ada = await shop.register()
    expect((await ada.get('/api/admin/diary')).json.code).toBe('ADMIN_REQUIRED')
    expect((await shop.anonymous.get('/api/admin/diary')).status).toBe(401)
  })
})

describe('the last administrator with all rights', () => {
  test("two administrators who simultaneously remove each other's full rights leave one administrator with full rights", async () => {
    await shop.sql(
      `update auth.users set role = 'customer', scopes = null where role = 'admin' and id <> $1`,
      [boss.id]
    )
    const other = await shop.newAdmin()
    const scoped = await shop.newAdmin()
    await grant(scoped.id, 'admin', ['diary'])
    const results = await Promise.allSettled([
      grant(boss.id, 'customer', null),
      inTransaction(tx => shop.auth.setDisabledById(tx, other.id, true))
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'AUTH_LAST_ADMIN' }
    })
    const full = await shop.sql(
      `select id from auth.users where role = 'admin' and scopes is null and disabled_at is null`
    )
    expect(full).toHaveLength(1)
    const last = String(full[0]?.id)
    await expect(grant(last, 'admin', ['diary'])).rejects.toMatchObject({ code: 'AUTH_LAST_ADMIN' })
    await grant(boss.id, 'admin', null)
    await inTransaction(tx => shop.auth.setDisabledById(tx, boss.id, false))
    boss = { ...boss, ...shop.as({ token: (await shop.logIn(boss.email)).json.access_token }) }
  })
})

describe('accounts of other users', () => {
  test('accounts of users are listed, searched by e-mail address, and filtered by an administrator', async () => {
    const [ada, bob] = [
      await shop.register({ email: 'list.ada@example.com' }),
      await shop.register({ email: 'list.bob@example.com' })
    ]
    await inTransaction(tx => shop.auth.setDisabledById(tx, bob.id, true))
    const search = 'LIST.'
    const { items, total } = await shop.auth.listUsers({ search, count: true })
    expect([items.map(({ id }) => id), total]).toEqual([[bob.id, ada.id], 2])
    expect(items[0]).not.toHaveProperty('password_hash')
    expect((await shop.auth.listUsers({ search, disabled: true })).items.map(({ id }) => id)).toEqual([
      bob.id
    ])
    expect((await shop.auth.listUsers({ search, role: 'admin' })).items).toEqual([])
    const first = await shop.auth.listUsers({ search, limit: 1 })
    const next = await shop.auth.listUsers({ search, limit: 1, cursor: first.next_cursor ?? '' })
    expect(next.items.map(({ id }) => id)).toEqual([ada.id])
    expect((await shop.auth.listUsers({ search: 'list%' })).items).toEqual([])
  })

  test('an administrator disables and enables accounts of others, and lists and ends their sessions', async () => {
    const ada = await shop.register()
    await shop.logIn(ada.email)
    const { items } = await shop.auth.sessionsOf(ada.id, {})
    expect(items.map(({ current }) => current)).toEqual([false, false])
    await inTransaction(tx => shop.auth.endSessions(tx, ada.id))
    expect((await ada.get('/api/auth/me')).status).toBe(401)
    expect((await shop.auth.sessionsOf(ada.id, {})).items).toEqual([])
    await inTransaction(tx => shop.auth.setDisabledById(tx, ada.id, true))
    expect((await shop.logIn(ada.email)).status).toBe(401)
    await inTransaction(tx => shop.auth.setDisabledById(tx, ada.id, false))
    expect((await shop.logIn(ada.email)).status).toBe(200)
  })

  test('administration of an account that does not exist is rejected as AUTH_USER_NOT_FOUND', async () => {
    const id = newId()
    const results = await Promise.allSettled([
      grant(id, 'admin', null),
      inTransaction(tx => shop.auth.setDisabledById(tx, id, true)),
      inTransaction(tx => shop.auth.endSessions(tx, id))
    ])
    const reason = expect.objectContaining({ code: 'AUTH_USER_NOT_FOUND' })
    expect(results).toEqual(results.map(() => ({ status: 'rejected', reason })))
  })
})
