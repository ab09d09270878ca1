import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { useGateway, useSharedGateway } from '../../../test/support/gateway.ts'
import { SECRET_SETTINGS } from '../../../test/support/secrets.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { loadConfig } from '../../config.ts'

shareShops()

const PRODUCTION = { CARTWRIGHT__ENVIRONMENT: 'production' }

test.each([
  ['development', {}, 200],
  ['development, off', { CARTWRIGHT__SERVER__DOCS: 'off' }, 404],
  ['production', PRODUCTION, 404],
  ['production, on', { ...PRODUCTION, CARTWRIGHT__SERVER__DOCS: 'on' }, 200]
])(
  'in %s, /docs and /openapi.json are served or hidden as the setting says',
  async (_what, settings, status) => {
    const gateway = await useGateway({ settings })
    for (const path of ['/docs', '/docs/', '/docs/main.js', '/openapi.json'])
      expect((await gateway.request('GET', path)).status, path).toBe(status)
    expect(JSON.parse(await gateway.document())).toMatchObject({ openapi: '3.1.0' })
  }
)

test('openapi.json is compressed, has an ETag, and is not sent again while unchanged', async () => {
  const { app } = await useSharedGateway()
  const ask = (headers: Record<string, string>) => app.inject({ url: '/openapi.json', headers })
  const plain = await ask({})
  expect(plain.headers).toMatchObject({
    etag: expect.stringMatching(/^"[\w-]+"$/),
    'cache-control': 'public, no-cache',
    vary: 'Accept-Encoding',
    'content-type': 'application/json; charset=utf-8'
  })
  const gzipped = await ask({ 'accept-encoding': 'gzip' })
  expect(gzipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(gzipped.rawPayload).toString()).toBe(plain.payload)
  const again = await ask({ 'if-none-match': String(plain.headers.etag) })
  expect([again.statusCode, again.payload]).toEqual([304, ''])
})

test('the API page runs only its own scripts, and no text becomes markup', async () => {
  const { app } = await useSharedGateway()
  for (const [path, type] of [
    ['/docs', 'text/html'],
    ['/docs/', 'text/html'],
    ['/docs/main.js', 'text/javascript'],
    ['/docs/docs.css', 'text/css']
  ]) {
    const { statusCode, headers } = await app.inject({ url: String(path) })
    expect([statusCode, headers['content-type']], path).toEqual([200, `${type}; charset=utf-8`])
    expect(String(headers['content-security-policy']).split('; ')).toEqual([
      ...[
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        'img-src data:'
      ],
      ...["require-trusted-types-for 'script'", "trusted-types 'none'", "base-uri 'none'"],
      ...["form-action 'none'", "frame-ancestors 'none'"]
    ])
  }
  const page = await app.inject({ url: '/docs' })
  expect(page.payload).not.toMatch(/<script(?! type="module" src=)|<style|\son\w+=|style="/)
})

test('no other file is served below /docs', async () => {
  const { app } = await useSharedGateway()
  for (const name of [
    'none.js',
    '..%2Fdocs-page.ts',
    '../docs-page.ts',
    '%2Fetc%2Fpasswd',
    'a/main.js',
    'main.js.map'
  ])
    expect((await app.inject({ url: `/docs/${name}` })).statusCode, name).toBe(404)
})

test('with a diagnostics port, metrics are served there only and the probes on the main port, too', async () => {
  const port = String(await freePort())
  const gateway = await useGateway({
    settings: { CARTWRIGHT__SERVER__PRIVATE_METRICS: 'true', CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: port }
  })
  const status = async (path: string) => (await gateway.request('GET', path)).status
  expect(await Promise.all(['/metrics', '/metricsz', '/healthz', '/readyz'].map(status))).toEqual([
    404, 404, 200, 200
  ])
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
})

test('private metrics without a configured diagnostics port prevent the start', () => {
  const settings = { ...SECRET_SETTINGS, CARTWRIGHT__SERVER__PRIVATE_METRICS: 'true' }
  expect(() => loadConfig([], settings)).toThrow('server.private_metrics: needs server.diagnostics_port')
})
