import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign
} from 'node:crypto'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '../../../../test/support/app.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { authModule } from '../index.ts'

const ISSUER = 'https://shop.example.com'
const PASSWORD = 'nine lives and a piano'

let app: TestApp
let mine: { access_token: string; refresh_token: string; user: { id: string } }
let header: Record<string, unknown>
let claims: Record<string, unknown>
let key: KeyObject

beforeAll(async () => {
  app = await createTestApp({ CARTWRIGHT__SERVER__PUBLIC_URL: ISSUER })
  const body = { email: 'owner@example.com', password: PASSWORD }
  mine = (await app.request('POST', '/api/auth/register', { body })).json
  ;[header, claims] = mine.access_token.split('.').slice(0, 2).map(decode) as [typeof header, typeof claims]
  const [row] = await runSql(app.databaseUrl, 'select sealed from auth.signing_keys')
  const sealed = app.platform.secrets.open('auth.signing_keys', row?.sealed)
  key = createPrivateKey({ key: sealed as Buffer, format: 'der', type: 'pkcs8' })
})
afterAll(() => app.close())

const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const now = () => Math.floor(Date.now() / 1_000)

/** A token with a valid signature of the shop over exactly these parts. */
function signed(head: unknown, payload: unknown, by: KeyObject = key): string {
  const input = `${encode(head)}.${encode(payload)}`
  return `${input}.${sign(null, Buffer.from(input), by).toString('base64url')}`
}
const withClaims = (over: object) => signed(header, { ...claims, ...over })
const withHeader = (over: object) => signed({ ...header, ...over }, claims)
const without = (name: string) => signed(header, { ...claims, [name]: undefined })
const parts = () => mine.access_token.split('.') as [string, string, string]
const otherKey = generateKeyPairSync('ed25519').privateKey
const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey

function hmac(secret: string | Buffer): string {
  const input = `${encode({ ...header, alg: 'HS256' })}.${encode(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
const publicPem = () => createPublicKey(key).export({ type: 'spki', format: 'pem' })
const publicRaw = () => Buffer.from(String(createPublicKey(key).export({ format: 'jwk' }).x), 'base64url')

/** The same bits with other letters: the last character of 64 bytes carries four bits that mean nothing. */
function withStrayBits(part: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.slice(-1)) ^ 1]
}

const bad: [string, () => string | Promise<string>][] = [
  ['a word', () => 'token'],
  ['null', () => 'null'],
  ['only dots', () => '..'],
  ['one part', () => parts()[0]],
  ['two parts', () => parts().slice(0, 2).join('.')],
  ['four parts', () => `${mine.access_token}.AAAA`],
  ['a trailing dot', () => `${mine.access_token}.`],
  ['a leading dot', () => `.${mine.access_token}`],
  ['five parts, as an encrypted token', () => `${mine.access_token}.AAAA.AAAA`],
  ['no signature', () => `${parts()[0]}.${parts()[1]}.`],
  ['no payload', () => `${parts()[0]}..${parts()[2]}`],
  ['a padded part', () => `${mine.access_token}==`],
  ['stray bits in the signature', () => `${parts()[0]}.${parts()[1]}.${withStrayBits(parts()[2])}`],
  ['the other base64 alphabet', () => `${parts()[0]}.${parts()[1]}.${'+/'.repeat(43)}`],
  ['percent signs', () => mine.access_token.replaceAll('.', '%2e')],
  ['another signature', () => `${parts()[0]}.${parts()[1]}.${Buffer.alloc(64).toString('base64url')}`],
  ['a changed payload', () => `${parts()[0]}.${encode({ ...claims, role: 'admin' })}.${parts()[2]}`],
  ['more than 8 kB', () => withClaims({ filler: 'x'.repeat(8_192) })],
  ['a header that is no JSON', () => signed('{', claims)],
  ['a header that is a list', () => signed([header], claims)],
  ['a header that is null', () => signed('null', claims)],
  ['a payload that is no JSON', () => signed(header, 'text')],
  ['a payload that is a list', () => signed(header, [claims])],
  [
    'a payload that is not UTF-8',
    () => {
      const input = `${encode(header)}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}`
      return `${input}.${sign(null, Buffer.from(input), key).toString('base64url')}`
    }
  ],
  ['alg none', () => withHeader({ alg: 'none' })],
  ['alg none without signature', () => `${encode({ ...header, alg: 'none' })}.${parts()[1]}.`],
  ['alg None', () => withHeader({ alg: 'None' })],
  ['no alg', () => withHeader({ alg: undefined })],
  ['alg as a list', () => withHeader({ alg: ['EdDSA'] })],
  ['alg Ed25519, which is not in the list', () => withHeader({ alg: 'Ed25519' })],
  ['alg in other letters', () => withHeader({ alg: 'eddsa' })],
  ['HS256 with the public key as secret', () => hmac(String(publicPem()))],
  ['HS256 with the bytes of the public key', () => hmac(publicRaw())],
  ['HS256 with an empty secret', () => hmac('')],
  [
    'RS256 with its own key',
    () => new SignJWT(claims).setProtectedHeader({ ...header, alg: 'RS256' }).sign(rsaKey)
  ],
  ['another key under our kid', () => signed(header, claims, otherKey)],
  ['an unknown kid', () => withHeader({ kid: '01890000-0000-7000-8000-000000000000' })],
  ['no kid', () => withHeader({ kid: undefined })],
  ['an empty kid', () => withHeader({ kid: '' })],
  ['a kid that is a number', () => withHeader({ kid: 0 })],
  ['a kid with SQL', () => withHeader({ kid: "' or '1'='1" })],
  ['a kid with a path', () => withHeader({ kid: '../../dev/null' })],
  ['jku', () => withHeader({ jku: `${ISSUER}/.well-known/jwks.json` })],
  ['x5u', () => withHeader({ x5u: 'https://thief.example.com/chain' })],
  ['x5c', () => withHeader({ x5c: ['AAAA'] })],
  [
    'jwk',
    () => signed({ ...header, jwk: createPublicKey(otherKey).export({ format: 'jwk' }) }, claims, otherKey)
  ],
  ['jwk with our own key', () => withHeader({ jwk: createPublicKey(key).export({ format: 'jwk' }) })],
  ['crit', () => withHeader({ crit: ['exp'], exp: 1 })],
  ['an empty crit', () => withHeader({ crit: [] })],
  ['b64', () => withHeader({ b64: false, crit: ['b64'] })],
  ['typ JWT', () => withHeader({ typ: 'JWT' })],
  ['typ in capitals', () => withHeader({ typ: 'AT+JWT' })],
  ['typ with its prefix', () => withHeader({ typ: 'application/at+jwt' })],
  ['no typ', () => withHeader({ typ: undefined })],
  ['typ as a list', () => withHeader({ typ: ['at+jwt'] })],
  ['expired', () => withClaims({ exp: now() - 61 })],
  ['no exp', () => without('exp')],
  ['exp as text', () => withClaims({ exp: String(now() + 600) })],
  ['exp null', () => withClaims({ exp: null })],
  ['nbf in the future', () => withClaims({ nbf: now() + 120 })],
  ['nbf as text', () => withClaims({ nbf: 'now' })],
  ['iat far in the future', () => withClaims({ iat: now() + 3_600 })],
  ['no iat', () => without('iat')],
  ['no jti', () => without('jti')],
  ['another audience', () => withClaims({ aud: 'another-audience' })],
  ['a list of audiences without the shop', () => withClaims({ aud: ['one', 'two'] })],
  ['no audience', () => without('aud')],
  ['an empty audience', () => withClaims({ aud: '' })],
  ['another issuer', () => withClaims({ iss: 'https://thief.example.com' })],
  ['our issuer with a slash', () => withClaims({ iss: `${ISSUER}/` })],
  ['an issuer as a list', () => withClaims({ iss: [ISSUER] })],
  ['no issuer', () => without('iss')],
  ['an empty issuer', () => withClaims({ iss: '' })],
  ['no subject', () => without('sub')],
  ['an empty subject', () => withClaims({ sub: '' })],
  ['a subject that is no id', () => withClaims({ sub: 'admin' })],
  ['a subject with SQL', () => withClaims({ sub: "' or true --" })],
  ['the subject of no user', () => withClaims({ sub: '01890000-0000-7000-8000-000000000000' })],
  ['no session', () => without('sid')],
  ['a session of no user', () => withClaims({ sid: '01890000-0000-7000-8000-000000000000' })],
  ['an unknown role', () => withClaims({ role: 'root' })],
  ['a list of roles', () => withClaims({ role: ['admin'] })],
  ['no role', () => without('role')],
  ['a refresh token', () => mine.refresh_token],
  ['an invitation code', () => `inv_${'A'.repeat(43)}`]
]

describe('an invalid access token', () => {
  test.each(bad)('an access token is rejected with 401 when it is %s', async (_what, make) => {
    const answer = await app.request('GET', '/api/auth/me', { token: await make() })
    expect(answer.status).toBe(401)
    expect(answer.json.code).toBe('AUTH_INVALID_TOKEN')
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  test.each([
    ['empty', 'Bearer '],
    ['blank', 'Bearer    '],
    ['of another scheme', 'Basic b3duZXI6cGFzc3dvcmQ='],
    ['without a scheme', 'eyJ.eyJ.AAAA'],
    ['two words', 'Bearer eyJ eyJ']
  ])('an Authorization header is rejected with 401 when it is %s', async (_what, authorization) => {
    const answer = await app.request('GET', '/api/auth/me', { headers: { authorization } })
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })
})

describe('an access token', () => {
  test('an access token has the header and claims of RFC 9068 and of the shop', () => {
    expect(header).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: expect.any(String) })
    expect(claims).toEqual({
      iss: ISSUER,
      aud: 'cartwright',
      sub: mine.user.id,
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
      auth_time: expect.any(Number),
      client_id: 'cartwright',
      role: 'customer',
      sid: expect.any(String)
    })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(900)
  })

  // The same helper makes valid tokens, so each rejection above has its own reason.
  test.each([
    ['as it was issued', () => mine.access_token],
    ['signed again by the test', () => withClaims({ jti: 'another' })],
    ['expired within the leeway', () => withClaims({ exp: now() - 30 })],
    ['from a clock that is a little fast', () => withClaims({ iat: now() + 30, nbf: now() + 30 })]
  ])('an access token is valid %s', async (_what, make) => {
    expect((await app.request('GET', '/api/auth/me', { token: make() })).status).toBe(200)
  })

  test('a forged role claim in an access token does not make a customer an administrator', async () => {
    const identity = await app.apiOf(authModule)?.authenticate(withClaims({ role: 'admin' }))
    expect(identity?.role).toBe('customer')
  })

  test('an access token of a disabled user is rejected', async () => {
    const token = withClaims({ jti: 'not seen before' })
    const change = (value: string) =>
      runSql(app.databaseUrl, `update auth.users set disabled_at = ${value} where id = $1`, [mine.user.id])
    await change('now()')
    expect((await app.request('GET', '/api/auth/me', { token })).status).toBe(401)
    await change('null')
    expect((await app.request('GET', '/api/auth/me', { token })).status).toBe(200)
  })
})
