import { generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { RequestOptions, TestResponse } from '../../src/testing.ts'
import { keepRecent } from '../support/recent-login.ts'
import { useShop } from '../support/use-shop.ts'
import { accessRowOf, type Route, routesOf } from './routes.ts'
import {
  createGuest,
  createShippingMethods,
  type ShopOfAllModules,
  useShopOfAllModules,
  withAccounts
} from './use-everything.ts'

const HOUR_MS = 3_600_000
const GUEST_HEADERS = Object.fromEntries(
  ['x-order-token', 'x-checkout-token', 'x-guest-cart-token'].map(name => [name, newId()])
)

async function useRoutes() {
  const shop = await useShopOfAllModules()
  const routes = await routesOf(shop)
  return { ...shop, routes, ofStaff: routes.filter(route => accessRowOf(route).of === 'staff') }
}

const ask = (
  shop: ShopOfAllModules,
  { method, path, contentType }: Route,
  options: RequestOptions,
  id = newId()
) => {
  const headers = { ...options.headers, ...(contentType && { 'content-type': contentType }) }
  const body = contentType === undefined ? {} : { body: contentType.endsWith('json') ? {} : 'sku\n' }
  return shop.request(method, path.replace(/\{\w+\}/g, id), { ...options, ...body, headers })
}

/** The response, and the statements that it sent except the look-up of the session. */
async function responseAndStatements({ record }: ShopOfAllModules, work: () => Promise<TestResponse>) {
  const { result, statements } = await record(work)
  return { ...result, asked: statements.filter(name => name !== 'auth.find_live_session') }
}

/** A well-formed token that an unknown key signed. */
const forged = async (token: string) => {
  const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const [header = '', claims = ''] = token.split('.')
  const { privateKey } = generateKeyPairSync('ed25519')
  return new SignJWT(decoded(claims)).setProtectedHeader(decoded(header)).sign(privateKey)
}

test('every route is in the table of callers, and the error for a missing route says what to add', async () => {
  const { routes } = await useRoutes()
  expect(routes.length).toBeGreaterThan(270)
  for (const route of routes) accessRowOf(route)
  const fresh = { name: 'get /api/wishes/{id}', path: '/api/wishes/{id}', ids: ['{id}'] }
  for (const tier of ['public', 'secured'] as const)
    expect(() => accessRowOf({ ...fresh, tier })).toThrow('say in THINGS of test/never/routes.ts whose')
  expect(() => accessRowOf({ ...fresh, tier: 'admin' })).toThrow('are those of STAFF of test/never/routes.ts')
  const lost = { name: 'get /api/admin/wishes', path: '/api/admin/wishes', ids: [] }
  expect(() => accessRowOf({ ...lost, tier: 'secured' })).toThrow('is of the tier secured')
  const open = { name: 'get /api/wishes', path: '/api/wishes', ids: [] }
  expect(() => accessRowOf({ ...open, tier: 'public' })).toThrow(
    'say in PUBLIC_ROUTES of test/never/routes.ts why'
  )
})

test('every route that needs a token rejects a missing or invalid one before anything else', async () => {
  const shop = await useRoutes()
  const secured = shop.routes.filter(({ tier }) => tier !== 'public')
  const [ada, eve, gone] = [await shop.register(), await shop.register(), await shop.register()]
  const disabled = { email: 'ex@example.com', password: 'nine lives and a piano', role: 'admin' } as const
  await shop.auth.createUser(disabled)
  const ofDisabled = await shop.logIn(disabled.email)
  await shop.auth.setDisabled(disabled.email, true)
  await shop.as(eve).post('/api/auth/logout')
  expect((await shop.as(gone).post('/api/auth/me/delete', { password: disabled.password })).status).toBe(204)
  const bad: [string, RequestOptions][] = [
    ['no token', {}],
    ['a guest’s headers', { headers: GUEST_HEADERS }],
    ['a token of another kind', { headers: { authorization: 'Basic YWRhOmFkYQ==' } }],
    ['rubbish', { token: 'rubbish' }],
    ['a stranger’s signature', { token: await forged(ada.token) }],
    ['an ended session', eve],
    ['a deleted account', gone],
    ['a disabled administrator', { token: ofDisabled }]
  ]
  const refused = async (kind: string, options: RequestOptions) => {
    const bodies = new Set<string>()
    for (const route of secured) {
      const { status, json, headers, asked } = await responseAndStatements(shop, () =>
        ask(shop, route, options)
      )
      expect(status, `${route.name} with ${kind}`).toBe(401)
      expect(headers['www-authenticate'], `${route.name} with ${kind}`).toBe('Bearer')
      expect(asked, `${route.name} with ${kind}`).toEqual([])
      bodies.add(JSON.stringify({ ...json, request_id: '', instance: '' }))
    }
    expect([...bodies], kind).toHaveLength(1)
    return [...bodies][0] ?? ''
  }
  const before = await shop.stored()
  const answers = new Map<string, string>()
  for (const [kind, options] of bad) answers.set(kind, await refused(kind, options))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS })
  onTestFinished(() => void vi.useRealTimers())
  answers.set('an expired one', await refused('an expired one', { token: ada.token }))
  vi.useRealTimers()
  expect(await shop.stored()).toEqual(before)
  // The response does not reveal what is wrong with a token.
  expect(new Set(answers.values()).size).toBe(2)
})

test('a customer gets 403 from each administrator route, before it reads anything about the requested object', async () => {
  const shop = await useRoutes()
  expect(shop.ofStaff.length).toBeGreaterThan(150)
  const ada = await shop.register()
  const before = await shop.stored()
  for (const route of shop.ofStaff) {
    const { status, json, asked } = await responseAndStatements(shop, () => ask(shop, route, ada, ada.id))
    expect([status, json.code], route.name).toEqual([403, 'ADMIN_REQUIRED'])
    expect(asked, route.name).toEqual([])
  }
  expect(await shop.stored()).toEqual(before)
})

test("an API key is rejected by each route about a person, whatever its owner's rights", async () => {
  const shop = await useRoutes()
  // An API key may read its owner.
  const isOpen = ({ name }: Route) => name === 'get /api/auth/me'
  const personal = shop.routes.filter(route => route.tier === 'secured' && !isOpen(route))
  expect(personal.length).toBeGreaterThan(30)
  const make = (name: string, scopes: string[] | null) =>
    shop.admin.post('/api/auth/api-keys', { name, scopes, expires_in_days: 1 })
  for (const scopes of [null, ['catalog']]) {
    const { api_key } = (await make('bot', scopes)).json
    const { json } = await shop.anonymous.post('/api/auth/token', { api_key })
    const token: string = json.access_token
    expect((await shop.as({ token }).get('/api/auth/me')).status).toBe(200)
    const before = await shop.stored()
    for (const route of personal) {
      const { status, json, asked } = await responseAndStatements(shop, () => ask(shop, route, { token }))
      expect([status, json.code], route.name).toEqual([403, 'PERSON_REQUIRED'])
      expect(asked, route.name).toEqual([])
    }
    expect(await shop.stored()).toEqual(before)
  }
})

/** Routes that change rights, accounts or second factors, which no API key may call. */
const USERS_ONLY = [
  'delete /api/admin/users/{id}',
  'delete /api/admin/users/{id}/sessions',
  'delete /api/admin/users/{id}/sessions/{session_id}',
  'delete /api/auth/second-factor',
  'get /api/auth/second-factor',
  'patch /api/admin/users/{id}',
  'post /api/auth/api-keys',
  'post /api/auth/second-factor',
  'post /api/auth/second-factor/confirm',
  'post /api/auth/second-factor/recovery-codes'
]

test('an API key with all rights cannot grant or revoke rights, and can use every other administrator route', async () => {
  const shop = await useRoutes()
  const { id } = await shop.register()
  const { api_key } = (await shop.admin.post('/api/auth/api-keys', { name: 'bot' })).json
  const { json } = await shop.anonymous.post('/api/auth/token', { api_key })
  const token: string = json.access_token
  const refused: string[] = []
  for (const route of shop.ofStaff) {
    const answer = await ask(shop, route, { token }, id)
    if (answer.json?.code === 'PERSON_REQUIRED') refused.push(route.name)
    else expect([401, 403], `${route.name}: ${answer.status}`).not.toContain(answer.status)
  }
  expect(refused.sort()).toEqual(USERS_ONLY)
  const rights = { role: 'admin', scopes: null }
  const promoted = await shop.as({ token }).patch(`/api/admin/users/${id}`, { rights })
  expect([promoted.status, promoted.json.code]).toEqual([403, 'PERSON_REQUIRED'])
  const of = async (key: string) => (await shop.admin.get(`/api/admin/users/${id}`)).json[key]
  expect([await of('role'), await of('disabled_at')]).toEqual(['customer', null])
  expect((await shop.admin.patch(`/api/admin/users/${id}`, { rights })).json.role).toBe('admin')
})

const isOfAnyScope = (route: Route) => (accessRowOf(route) as { anyScope: boolean }).anyScope

test("staff with every scope but its module's are rejected by each administrator route, and with that scope admitted", async () => {
  const shop = await useRoutes()
  const { id, token } = await shop.register()
  await keepRecent(shop, id)
  const limitTo = async (scopes: string[]) => {
    const rights = { role: 'admin', scopes }
    const { status, text } = await shop.admin.patch(`/api/admin/users/${id}`, { rights })
    expect(status, text).toBe(200)
  }
  const names: readonly string[] = shop.modules
  const strays = shop.ofStaff.filter(({ module }) => !names.includes(module))
  expect(strays.map(({ name, module }) => `${name} of ${module}`)).toEqual([])
  for (const module of shop.modules) {
    const own = shop.ofStaff.filter(route => route.module === module && !isOfAnyScope(route))
    await limitTo(shop.modules.filter(name => name !== module))
    await shop.sql('truncate cartwright.audit')
    const { 'cartwright.audit': _, ...before } = await shop.stored()
    for (const route of own) {
      const { status, json, asked } = await responseAndStatements(shop, () => ask(shop, route, { token }))
      expect([status, json.code], route.name).toEqual([403, 'AUTH_SCOPE_MISSING'])
      const { requiresFullAccess } = accessRowOf(route) as { requiresFullAccess: boolean }
      expect(json.scope, route.name).toBe(requiresFullAccess ? null : module)
      // A rejected change writes an audit entry.
      expect(asked, route.name).toEqual(route.method === 'GET' ? [] : ['audit.upsert_entry'])
    }
    expect(await shop.stored()).toMatchObject(before)
    const noted = await shop.sql('select actor, status, method, route from cartwright.audit')
    expect(
      noted.map(({ method, route }) => `${method} ${String(route).replaceAll(/:(\w+)/g, '{$1}')}`).sort()
    ).toEqual(own.flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`])).sort())
    expect(noted.filter(({ actor, status }) => actor !== id || status !== 403)).toEqual([])

    await limitTo([module])
    for (const route of own) {
      const { status } = await ask(shop, route, { token })
      const { requiresFullAccess } = accessRowOf(route) as { requiresFullAccess: boolean }
      if (requiresFullAccess) expect(status, route.name).toBe(403)
      else expect([401, 403], `${route.name}: ${status}`).not.toContain(status)
    }
  }
})

test('an administrator without the required second factor can use only the routes that enrol it', async () => {
  const shop = await withAccounts(
    await useShop({ settings: { CARTWRIGHT__AUTH__REQUIRE_SECOND_FACTOR: 'true' } })
  )
  const closed = (await routesOf(shop)).filter(
    ({ tier, name }) => tier !== 'public' && !BEFORE_ENROLMENT.includes(name)
  )
  expect(closed.length).toBeGreaterThan(190)
  const before = await shop.stored()
  for (const route of closed) {
    const { status, json, asked } = await responseAndStatements(shop, () => ask(shop, route, shop))
    expect([status, json.code], route.name).toEqual([403, 'AUTH_SECOND_FACTOR_MISSING'])
    expect(asked, route.name).toEqual([])
  }
  expect(await shop.stored()).toEqual(before)
  for (const path of BEFORE_ENROLMENT.filter(name => name.startsWith('get')))
    expect((await shop.admin.get(path.slice('get '.length))).status, path).toBe(200)
})
const BEFORE_ENROLMENT = [
  'get /api/auth/second-factor',
  'post /api/auth/second-factor',
  'post /api/auth/second-factor/confirm'
]

test('administrators without access to notifications send nothing to others or about their orders', async () => {
  const shop = await useShopOfAllModules()
  const { id, token } = await shop.register()
  const limitTo = (scopes: string[]) =>
    shop.admin.patch(`/api/admin/users/${id}`, { rights: { role: 'admin', scopes } })
  await createShippingMethods(shop)
  const { of } = await createGuest(shop, (await shop.sell()).variants[0]?.id ?? '')
  const asked = async (body: object) => {
    const { status, json } = await shop.as({ token }).post('/api/notifications/send', body)
    return [status, json.code]
  }
  const about = { template: 'order_placed', data: { order_id: of.order } }
  await limitTo(shop.modules.filter(name => name !== 'notifications'))
  expect(await asked({ template: 'welcome', to: 'thief@example.com' })).toEqual([
    ...[403, 'NOTIFICATION_RECIPIENT_FORBIDDEN']
  ])
  expect(await asked(about)).toEqual([404, 'NOTIFICATION_ORDER_NOT_FOUND'])
  expect(await asked({ template: 'welcome' })).toEqual([409, 'NOTIFICATION_RECIPIENT_UNVERIFIED'])
  await shop.sql('update auth.users set email_verified_at = now() where id = $1', [id])
  expect(await asked({ template: 'welcome' })).toEqual([202, undefined])

  await limitTo(['notifications'])
  expect(await asked({ template: 'welcome', to: 'ada@example.com' })).toEqual([202, undefined])
  expect(await asked(about)).toEqual([409, 'NOTIFICATION_NOT_SO'])
})

test('administrators with access to notifications cannot change mails with login or reset links', async () => {
  const shop = await useShopOfAllModules()
  const { id, token } = await shop.register()
  await shop.admin.patch(`/api/admin/users/${id}`, { rights: { role: 'admin', scopes: ['notifications'] } })
  const staff = shop.as({ token })
  const path = (template: string) => `/api/admin/notifications/templates/${template}/en`
  for (const [template, status] of [
    ['reset_password', 403],
    ['verify_email', 403],
    ['order_placed', 200]
  ] as const) {
    const { subject, text, html } = (await staff.get(path(template))).json
    const words = { subject, text, html: `<img src="https://thief.example/?">${html}` }
    expect((await staff.put(path(template), words)).status).toBe(status)
    expect((await shop.admin.put(path(template), words)).status).toBe(200)
    const removed = await staff.delete(path(template))
    expect([removed.status, removed.json?.code]).toEqual(
      status === 200 ? [204, undefined] : [403, 'NOTIFICATION_TEMPLATE_FORBIDDEN']
    )
  }
})
