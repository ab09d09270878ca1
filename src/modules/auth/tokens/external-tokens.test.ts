import { createHmac, createPublicKey, generateKeyPairSync, type webcrypto } from 'node:crypto'
import { exportJWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../../test/support/app.ts'
import { ADMIN_CLAIM, makeKey, startIssuer, type TestIssuer } from '../../../../test/support/issuer.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { hasTokenClaimValue, readScopesClaim } from './external-tokens.ts'

const PASSWORD = 'nine lives and a piano'

let app: TestApp
let issuer: TestIssuer
let second: TestIssuer

beforeAll(async () => {
  ;[issuer, second] = await Promise.all([startIssuer(), startIssuer('second-shop')])
  app = await createTestApp({
    CARTWRIGHT__AUTH__ISSUERS: JSON.stringify([
      { issuer: issuer.issuer, audience: issuer.audience, admin_claim: ADMIN_CLAIM },
      { issuer: second.issuer, audience: second.audience }
    ])
  })
})
afterAll(async () => {
  await app.close()
  await Promise.all([issuer.stop(), second.stop()])
})

const me = (token: string) => app.request('GET', '/api/auth/me', { token })
const asAdmin = (token: string) => app.request('GET', '/api/auth/invitations', { token })
const now = () => Math.floor(Date.now() / 1_000)
const identities = () =>
  runSql(app.databaseUrl, 'select issuer, subject, user_id from auth.external_identities')

describe('an access token of a configured issuer', () => {
  test('an access token of a configured issuer is accepted, and its subject is the same user every time', async () => {
    const [first, again] = [await me(await issuer.accessToken()), await me(await issuer.accessToken())]
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ role: 'customer', email: null, name: null })
    expect(again.json.id).toBe(first.json.id)
  })

  test('an external access token gives administrator access only by the configured claim', async () => {
    expect((await asAdmin(await issuer.accessToken('boss'))).status).toBe(200)
    expect((await me(await issuer.accessToken('boss'))).json.role).toBe('admin')
    expect((await asAdmin(await issuer.accessToken('shopper'))).status).toBe(403)
  })

  test('a user of an external issuer loses the administrator role with the claim', async () => {
    const claims = issuer.claims()
    const promoted = await issuer.sign({ ...claims, realm_access: { roles: ['shop-admin'] } })
    expect((await asAdmin(promoted)).status).toBe(200)
    expect((await asAdmin(await issuer.sign(claims))).status).toBe(403)
  })

  test('twenty simultaneous first requests with an external token create its user once', async () => {
    const token = await issuer.sign({ ...issuer.claims(), sub: 'twenty-at-once' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => me(token)))
    expect(answers.map(each => each.status)).toEqual(Array(20).fill(200))
    expect(new Set(answers.map(each => each.json.id)).size).toBe(1)
    const users = await runSql(
      app.databaseUrl,
      `select u.id from auth.users u where u.email is null and not exists
         (select from auth.external_identities i where i.user_id = u.id)`
    )
    expect(users).toEqual([])
    expect((await identities()).filter(each => each.subject === 'twenty-at-once')).toHaveLength(1)
  })

  test('an external token whose subject also exists at another issuer is another user', async () => {
    const [here, there] = [await me(await issuer.accessToken()), await me(await second.accessToken())]
    expect(there.status).toBe(200)
    expect(there.json.id).not.toBe(here.json.id)
  })

  test('an external token never gets the account that has the same e-mail address, in either order', async () => {
    const email = 'shared@example.com'
    const external = await me(
      await issuer.sign({ ...issuer.claims(), sub: 'early', email, email_verified: true })
    )
    expect(external.json.email).toBe(email)
    const local = await app.request('POST', '/api/auth/register', { body: { email, password: PASSWORD } })
    expect(local.status).toBe(201)
    const late = await me(await second.sign({ ...second.claims(), sub: 'late', email, email_verified: true }))
    expect(new Set([external.json.id, local.json.user.id, late.json.id]).size).toBe(3)
  })

  test('an external access token of a disabled user is rejected', async () => {
    const claims = { ...issuer.claims(), sub: 'disabled' }
    const { json } = await me(await issuer.sign(claims))
    await runSql(app.databaseUrl, 'update auth.users set disabled_at = now() where id = $1', [json.id])
    const answer = await me(await issuer.sign({ ...claims, jti: 'another' }))
    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('AUTH_INVALID_TOKEN')
  })

  test('an external token has no session here, so a log-out ends nothing and no password can be changed', async () => {
    const token = await issuer.accessToken()
    expect((await app.request('POST', '/api/auth/logout', { token })).status).toBe(204)
    expect((await app.request('GET', '/api/auth/sessions', { token })).json.items).toEqual([])
    const body = { current_password: PASSWORD, new_password: 'eleven lives and a cello' }
    expect((await app.request('POST', '/api/auth/password', { token, body })).status).toBe(401)
  })

  test.each([
    ['with typ JWT', { typ: 'JWT' }, {}],
    ['with the long name of its typ', { typ: 'application/at+jwt' }, {}],
    ['without typ', { typ: undefined }, {}],
    ['with the shop among its audiences', {}, { aud: ['other', 'shop'] }],
    ['as Keycloak marks it', { typ: 'JWT' }, { typ: 'Bearer', azp: 'shop-web' }],
    ['as Cognito marks it', { typ: 'JWT' }, { token_use: 'access' }],
    ['expired within the leeway', {}, { exp: now() - 20 }],
    ['with a name that cannot be stored', {}, { name: 'Ada\u0000', email: 'no address\u0000' }]
  ])('an access token of a configured issuer is accepted %s', async (_what, header, claims) => {
    expect((await me(await issuer.sign({ ...issuer.claims(), ...claims }, header))).status).toBe(200)
  })
})

describe('an invalid token of a configured issuer', () => {
  const good = () => ({ ...issuer.claims(), sub: 'intruder' })
  const withClaims = (over: object) => issuer.sign({ ...good(), ...over })
  const withHeader = (over: object) => issuer.sign(good(), over)
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = (header: object) => `${encode(header)}.${encode(good())}.`
  const publicKey = () =>
    createPublicKey({ key: issuer.key().publicJwk as webcrypto.JsonWebKey, format: 'jwk' })

  function hmac(secret: string): string {
    const input = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: issuer.key().kid })}.${encode(good())}`
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  }
  async function byAnother(algorithm: string, header: object = {}) {
    const { key } = await makeKey(algorithm, issuer.key().kid)
    const head = { alg: algorithm, typ: 'at+jwt', kid: key.kid, ...header }
    return new SignJWT(good()).setProtectedHeader(head).sign(key.privateKey)
  }
  async function ownOf(other: TestIssuer, claims: object) {
    return other.sign({ ...other.claims(), sub: 'intruder', ...claims })
  }

  test.each<[string, () => string | Promise<string>]>([
    ['its ID token', () => issuer.idToken()],
    ['an ID token by nonce', () => withClaims({ nonce: 'n' })],
    ['an ID token by at_hash', () => withClaims({ at_hash: 'h' })],
    ['an ID token by c_hash', () => withClaims({ c_hash: 'h' })],
    ['an ID token of Keycloak', () => withClaims({ typ: 'ID' })],
    ['a refresh token of Keycloak', () => withClaims({ typ: 'Refresh' })],
    ['an ID token of Cognito', () => withClaims({ token_use: 'id' })],
    ['a log-out token', () => withHeader({ typ: 'logout+jwt' })],
    ['a security event', () => withHeader({ typ: 'secevent+jwt' })],
    ['a DPoP proof', () => withHeader({ typ: 'dpop+jwt' })],
    ['unsigned', () => unsigned({ alg: 'none', typ: 'at+jwt', kid: issuer.key().kid })],
    ['unsigned in other letters', () => unsigned({ alg: 'nOnE', typ: 'at+jwt', kid: issuer.key().kid })],
    ['RS256 without a signature', () => unsigned({ alg: 'RS256', typ: 'at+jwt', kid: issuer.key().kid })],
    [
      'HS256 with the public key as secret',
      () => hmac(String(publicKey().export({ type: 'spki', format: 'pem' })))
    ],
    ['HS256 with the published document as secret', () => hmac(JSON.stringify(issuer.key().publicJwk))],
    ['HS256 with an empty secret', () => hmac('')],
    ['by another key with its kid', () => byAnother('RS256')],
    ['by another kind of key with its kid', () => byAnother('ES256')],
    ['PS256, which its settings do not allow', () => byAnother('PS256')],
    ['EdDSA, which only tokens of the shop use', () => byAnother('EdDSA')],
    [
      'by another key in its own header',
      async () => {
        const { privateKey, publicKey: mine } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
        const head = { alg: 'RS256', typ: 'at+jwt', kid: 'mine', jwk: await exportJWK(mine) }
        return new SignJWT(good()).setProtectedHeader(head as never).sign(privateKey)
      }
    ],
    ['of the other issuer under its name', () => ownOf(second, { iss: issuer.issuer, aud: issuer.audience })],
    ['its own under the name of the other', () => withClaims({ iss: second.issuer, aud: second.audience })],
    ['its own under our name', () => withClaims({ iss: 'cartwright', aud: 'cartwright', role: 'admin' })],
    ['of an unknown issuer', () => withClaims({ iss: 'https://unknown.example.com' })],
    ['of its issuer with a slash', () => withClaims({ iss: `${issuer.issuer}/` })],
    ['of its issuer in capitals', () => withClaims({ iss: issuer.issuer.toUpperCase() })],
    ['of a list of issuers', () => withClaims({ iss: [issuer.issuer] })],
    ['of no issuer', () => withClaims({ iss: undefined })],
    ['an unknown kid', () => withHeader({ kid: 'unknown' })],
    ['no kid', () => withHeader({ kid: undefined })],
    ['jku', () => withHeader({ jku: `${second.issuer}/jwks` })],
    ['x5u', () => withHeader({ x5u: `${second.issuer}/chain` })],
    ['expired', () => withClaims({ exp: now() - 61 })],
    ['without exp', () => withClaims({ exp: undefined })],
    ['with exp as text', () => withClaims({ exp: '9999999999' })],
    ['not valid yet', () => withClaims({ nbf: now() + 120 })],
    ['issued in the future', () => withClaims({ iat: now() + 3_600 })],
    ['issued at a text', () => withClaims({ iat: 'now' })],
    ['for another audience', () => withClaims({ aud: 'other' })],
    ['for other audiences', () => withClaims({ aud: ['one', 'two'] })],
    ['without an audience', () => withClaims({ aud: [] })],
    ['for the audience of the other issuer', () => withClaims({ aud: second.audience })],
    ['without audience', () => withClaims({ aud: undefined })],
    ['without subject', () => withClaims({ sub: undefined })],
    ['with an empty subject', () => withClaims({ sub: '' })],
    ['with a blank subject', () => withClaims({ sub: '  ' })],
    ['with a number as subject', () => withClaims({ sub: 7 })],
    ['with NUL in its subject', () => withClaims({ sub: 'intruder\u0000' })],
    ['with a subject without end', () => withClaims({ sub: 'intruder'.repeat(40) })],
    ['padded', async () => `${await withClaims({})}=`],
    ['larger than 8 kB', () => withClaims({ groups: Array(2_000).fill('group') })]
  ])('a token that names a configured issuer is rejected with 401 when it is %s', async (_what, make) => {
    const answer = await me(await make())
    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('AUTH_INVALID_TOKEN')
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  test('a rejected token of a configured issuer creates no user', async () => {
    const subjects = (await identities()).map(each => String(each.subject))
    expect(subjects.filter(subject => subject.startsWith('intruder') || subject.trim() === '')).toEqual([])
  })

  test('a valid token made by the same test helper is accepted', async () => {
    expect((await me(await issuer.sign({ ...good(), sub: 'honest' }))).status).toBe(200)
  })
})

describe('an admin claim', () => {
  const admin = { path: 'realm_access.roles', value: 'admin' }
  test.each([
    [{ realm_access: { roles: ['user', 'admin'] } }, true],
    [{ realm_access: { roles: 'admin' } }, true],
    [{ 'realm_access.roles': ['admin'] }, true],
    [{ realm_access: { roles: ['administrator'] } }, false],
    [{ realm_access: { roles: 'admin user' } }, false],
    [{ realm_access: { roles: { admin: true } } }, false],
    [{ realm_access: { roles: [['admin']] } }, false],
    [{ realm_access: null }, false],
    [{ realm_access: 'admin' }, false],
    [{}, false]
  ])('the claims %j contain the administrator claim: %s', (claims, granted) => {
    expect(hasTokenClaimValue(claims, admin)).toBe(granted)
  })

  test('the administrator claim is not found among inherited object properties', () => {
    expect(hasTokenClaimValue({}, { path: 'constructor.name', value: 'Object' })).toBe(false)
    expect(hasTokenClaimValue({ roles: ['x'] }, { path: 'roles.length', value: '1' })).toBe(false)
  })

  test('the administrator claim can have a name with dots', () => {
    const path = 'https://shop.example.com/roles'
    expect(hasTokenClaimValue({ [path]: ['admin'] }, { path, value: 'admin' })).toBe(true)
  })
})

describe('a claim of scopes', () => {
  const path = 'cartwright.scopes'
  const ORDERS = '/api/admin/orders'

  test('a claim of scopes limits administrators of its issuer to these modules, and gives customers nothing', async () => {
    const own = { issuer: issuer.issuer, audience: issuer.audience, admin_claim: ADMIN_CLAIM }
    const issuers = JSON.stringify([{ ...own, scopes_claim: 'shop.scopes' }])
    const limited = await createTestApp({ CARTWRIGHT__AUTH__ISSUERS: issuers })
    onTestFinished(() => limited.close())
    const statuses = async (token: string) =>
      Promise.all(
        ['/api/auth/invitations', '/api/catalog/products', ORDERS, '/api/admin/users'].map(
          async path => (await limited.request('GET', path, { token })).status
        )
      )
    const boss = await issuer.accessToken('boss')
    expect(await statuses(boss)).toEqual([200, 200, 403, 403])
    const refused = await limited.request('GET', ORDERS, { token: boss })
    expect(refused.json).toMatchObject({ code: 'AUTH_SCOPE_MISSING', scope: 'orders' })
    // Without the setting they may do everything.
    expect((await app.request('GET', ORDERS, { token: boss })).status).toBe(200)

    const claims = { ...issuer.claims(), sub: 'boss' }
    const roles = { realm_access: { roles: [ADMIN_CLAIM.value] } }
    expect(await statuses(await issuer.sign({ ...claims, ...roles }))).toEqual([403, 403, 403, 403])
    const words = { ...roles, shop: { scopes: 'orders admin' } }
    // The scope of the module admin does not include accounts.
    expect(await statuses(await issuer.sign({ ...claims, ...words }))).toEqual([403, 403, 200, 403])
    const shopper = { ...issuer.claims(), shop: { scopes: ['auth', 'orders'] } }
    expect(await statuses(await issuer.sign(shopper))).toEqual([403, 403, 403, 403])
  })

  test.each([
    [{ cartwright: { scopes: ['catalog', 'inventory'] } }, ['catalog', 'inventory']],
    [{ cartwright: { scopes: 'catalog  inventory' } }, ['catalog', 'inventory']],
    [{ [path]: ['catalog'] }, ['catalog']],
    [{ cartwright: { scopes: ['catalog', 7, null, ['orders']] } }, ['catalog']],
    [{ cartwright: { scopes: '' } }, []],
    [{ cartwright: { scopes: { catalog: true } } }, []],
    [{ cartwright: null }, []],
    [{}, []]
  ])('the scopes in the claims %j are %j', (claims, scopes) => {
    expect(readScopesClaim(claims, path)).toEqual(scopes)
  })
})
