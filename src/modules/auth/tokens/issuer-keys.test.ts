import type { IncomingMessage, ServerResponse } from 'node:http'
import { SignJWT } from 'jose'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '../../../../test/support/app.ts'
import { makeKey, startIssuer, type TestIssuer } from '../../../../test/support/issuer.ts'
import { createHttpClient } from '../../../platform/http/client.ts'
import { createIssuerKeyLoader } from './issuer-keys.ts'

const http = createHttpClient({ privateHosts: [] })

async function useIssuer() {
  const issuer = await startIssuer()
  onTestFinished(() => issuer.stop())
  return issuer
}

function keysOf(issuer: TestIssuer, { cooldownMs = 30_000 } = {}) {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  return createIssuerKeyLoader({ http, issuer: issuer.issuer, cooldownMs, signal: stopping.signal })
}
const headerOf = (issuer: TestIssuer) => ({ alg: 'RS256', kid: issuer.key().kid })
const unknown = { alg: 'RS256', kid: 'unknown' }
const json = (response: ServerResponse, value: unknown) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

describe('the keys of another issuer', () => {
  test('twenty simultaneous callers fetch the keys of an external issuer once', async () => {
    const issuer = await useIssuer()
    const keyFor = keysOf(issuer)
    await Promise.all(Array.from({ length: 20 }, () => keyFor(headerOf(issuer))))
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration', '/jwks'])
  })

  test('the keys of an external issuer are not fetched again for unknown key ids within the cool-down', async () => {
    const issuer = await useIssuer()
    const keyFor = keysOf(issuer)
    await keyFor(headerOf(issuer))
    for (let turn = 0; turn < 50; turn += 1) {
      await expect(keyFor({ ...unknown, kid: `unknown-${turn}` })).rejects.toMatchObject({
        code: 'AUTH_INVALID_TOKEN'
      })
    }
    expect(issuer.requests).toHaveLength(2)
  })

  test('after an external issuer rotates its keys, the new key is found and the old one is rejected', async () => {
    const issuer = await useIssuer()
    const keyFor = keysOf(issuer, { cooldownMs: 0 })
    const old = headerOf(issuer)
    await keyFor(old)
    await issuer.rotateKey()
    await expect(keyFor(headerOf(issuer))).resolves.toBeDefined()
    await expect(keyFor(old)).rejects.toMatchObject({ code: 'AUTH_INVALID_TOKEN' })
  })

  test('keys of an external issuer stay valid while it is down, and unknown keys are "unavailable"', async () => {
    const issuer = await useIssuer()
    const keyFor = keysOf(issuer, { cooldownMs: 0 })
    await keyFor(headerOf(issuer))
    issuer.intercept((_request, response) => response.destroy())
    await expect(keyFor(unknown)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'AUTH_ISSUER_UNAVAILABLE'
    })
    await expect(keyFor(headerOf(issuer))).resolves.toBeDefined()
    issuer.intercept(undefined)
    await expect(keyFor(unknown)).rejects.toMatchObject({ code: 'AUTH_INVALID_TOKEN' })
  })

  test('keys of an external issuer that is down are requested once within the cool-down', async () => {
    const issuer = await useIssuer()
    const keyFor = keysOf(issuer)
    issuer.intercept((_request, response) => response.destroy())
    for (let turn = 0; turn < 10; turn += 1) {
      await expect(keyFor(headerOf(issuer))).rejects.toMatchObject({ code: 'AUTH_ISSUER_UNAVAILABLE' })
    }
    expect(issuer.requests).toHaveLength(1)
  })

  // The valid responses beside each fault, so that only the fault can be the reason.
  const honest = (request: IncomingMessage, response: ServerResponse, issuer: TestIssuer) =>
    json(
      response,
      request.url === '/jwks'
        ? { keys: [issuer.key().publicJwk] }
        : { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/jwks` }
    )

  type Fault = (request: IncomingMessage, response: ServerResponse, issuer: TestIssuer) => void
  test.each<[string, Fault]>([
    ['closes the connection', (_request, response) => response.destroy()],
    ['returns 500', (_request, response) => response.writeHead(500).end('{}')],
    ['returns HTML', (_request, response) => response.end('<html>')],
    ['returns null', (_request, response) => json(response, null)],
    [
      'names another issuer',
      (request, response, issuer) => {
        if (request.url === '/jwks') return honest(request, response, issuer)
        json(response, { issuer: 'https://thief.example.com', jwks_uri: `${issuer.issuer}/jwks` })
      }
    ],
    ['names no keys', (_request, response, issuer) => json(response, { issuer: issuer.issuer })],
    [
      'names a file',
      (_request, response, issuer) => {
        json(response, { issuer: issuer.issuer, jwks_uri: 'file:///etc/passwd' })
      }
    ],
    [
      'names another private address for its keys',
      (request, response, issuer) => {
        const keys = issuer.issuer.replace('127.0.0.1', '127.0.0.2')
        if (request.headers.host === new URL(keys).host) return honest(request, response, issuer)
        json(response, { issuer: issuer.issuer, jwks_uri: `${keys}/jwks` })
      }
    ],
    [
      'redirects elsewhere',
      (request, response, issuer) => {
        if (request.url !== '/jwks') return honest(request, response, issuer)
        response.writeHead(302, { location: `${issuer.issuer}/elsewhere` }).end()
      }
    ],
    [
      'has moved',
      (request, response, issuer) => {
        if (request.url === '/jwks' || request.url === '/moved') return honest(request, response, issuer)
        response.writeHead(301, { location: `${issuer.issuer}/moved` }).end()
      }
    ],
    [
      'returns no list of keys',
      (request, response, issuer) => {
        const discovery = { issuer: issuer.issuer, jwks_uri: `${issuer.issuer}/jwks` }
        json(response, request.url === '/jwks' ? { keys: 'none' } : discovery)
      }
    ]
  ])('the keys of an external issuer are unavailable when the issuer %s', async (_what, fault) => {
    const issuer = await useIssuer()
    issuer.intercept((request, response) => fault(request, response, issuer))
    await expect(keysOf(issuer)(headerOf(issuer))).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'AUTH_ISSUER_UNAVAILABLE',
      retryAfterSeconds: 5
    })
  })

  test('keys of an external issuer are unavailable when their document never ends', async () => {
    const issuer = await useIssuer()
    const chunk = Buffer.alloc(65_536, ' ')
    let poured = 0
    issuer.intercept((_request, response) => {
      const pour = () => {
        if (response.destroyed) return
        poured += chunk.length
        response.write(chunk)
      }
      response.on('drain', pour)
      pour()
    })
    await expect(keysOf(issuer)(headerOf(issuer))).rejects.toMatchObject({ code: 'AUTH_ISSUER_UNAVAILABLE' })
    expect(poured).toBeLessThan(32_000_000)
  })

  test('keys of an external issuer that never responds are unavailable after three seconds', async () => {
    const issuer = await useIssuer()
    issuer.intercept(() => {})
    const startedAt = performance.now()
    await expect(keysOf(issuer)(headerOf(issuer))).rejects.toMatchObject({ code: 'AUTH_ISSUER_UNAVAILABLE' })
    expect(performance.now() - startedAt).toBeLessThan(4_000)
  })
})

test('a token of an external issuer that is down gets 503, and other tokens stay valid', async () => {
  const issuer = await useIssuer()
  const issuers = [{ issuer: issuer.issuer, audience: issuer.audience }]
  const app = await createTestApp({ CARTWRIGHT__AUTH__ISSUERS: JSON.stringify(issuers) })
  onTestFinished(() => app.close())
  const token = await issuer.accessToken()
  issuer.intercept((_request, response) => response.destroy())

  const answer = await app.request('GET', '/api/auth/me', { token })
  expect(answer.status).toBe(503)
  expect(answer.json.code).toBe('AUTH_ISSUER_UNAVAILABLE')
  expect(answer.headers['retry-after']).toBe('5')
  const body = { email: 'local@example.com', password: 'nine lives and a piano' }
  const local = await app.request('POST', '/api/auth/register', { body })
  expect((await app.request('GET', '/api/auth/me', { token: local.json.access_token })).status).toBe(200)
})

test('a stopping process does not wait for an external issuer that hangs', async () => {
  const issuer = await useIssuer()
  const stopping = new AbortController()
  const keyFor = createIssuerKeyLoader({
    http,
    issuer: issuer.issuer,
    cooldownMs: 0,
    signal: stopping.signal
  })
  const asked = new Promise<void>(resolve => issuer.intercept(() => resolve()))
  const pending = keyFor(headerOf(issuer)).catch((error: unknown) => error)
  await asked
  stopping.abort()
  expect(await pending).toMatchObject({ code: 'AUTH_ISSUER_UNAVAILABLE' })
})

test('a token with an algorithm that is not allowed causes no request to its issuer for keys', async () => {
  const issuer = await useIssuer()
  const issuers = [{ issuer: issuer.issuer, audience: issuer.audience }]
  const app = await createTestApp({ CARTWRIGHT__AUTH__ISSUERS: JSON.stringify(issuers) })
  onTestFinished(() => app.close())
  const { key } = await makeKey('ES256', 'unknown')
  const header = { alg: 'ES256', typ: 'at+jwt', kid: key.kid }
  const token = await new SignJWT(issuer.claims()).setProtectedHeader(header).sign(key.privateKey)
  expect((await app.request('GET', '/api/auth/me', { token })).status).toBe(401)
  expect(issuer.requests).toEqual([])
})

test('issuer keys that an attacker wrote into the shared cache are not used', async () => {
  const issuer = await useIssuer()
  const issuers = [
    { issuer: issuer.issuer, audience: issuer.audience, admin_claim: { path: 'boss', value: 'yes' } }
  ]
  const app = await createTestApp({ CARTWRIGHT__AUTH__ISSUERS: JSON.stringify(issuers) })
  onTestFinished(() => app.close())
  const { key } = await makeKey('RS256', 'forged')
  await app.platform.cache.set(`auth.jwks:${issuer.issuer}`, JSON.stringify({ keys: [key.publicJwk] }), 600)
  const header = { alg: 'RS256', typ: 'at+jwt', kid: key.kid }
  const claims = { ...issuer.claims(), boss: 'yes' }
  const token = await new SignJWT(claims).setProtectedHeader(header).sign(key.privateKey)
  expect((await app.request('GET', '/api/auth/me', { token })).status).toBe(401)
})
