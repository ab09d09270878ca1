import { expect, test } from 'vitest'
import { useGateway } from '../../../test/support/gateway.ts'

const SECURITY = '/.well-known/security.txt'

test('the API catalog links to the OpenAPI document, its page and the status', async () => {
  const gateway = await useGateway({
    settings: { CARTWRIGHT__SERVER__PUBLIC_URL: 'https://api.shop.example/' }
  })
  const { status, headers, text } = await gateway.request('GET', '/.well-known/api-catalog')
  expect(status).toBe(200)
  expect(headers['content-type']).toContain('application/linkset+json')
  const [links] = JSON.parse(text).linkset
  expect(links.anchor).toBe('https://api.shop.example/api')
  expect(links['service-desc'][0].href).toBe('https://api.shop.example/openapi.json')
  for (const relation of ['service-desc', 'service-doc', 'status']) {
    const { pathname } = new URL(links[relation][0].href)
    expect((await gateway.request('GET', pathname)).status, relation).toBe(200)
  }
  const head = await gateway.request('HEAD', '/.well-known/api-catalog')
  expect(head.headers.link).toBe('</.well-known/api-catalog>; rel="api-catalog"')
})

test('security.txt lists the contacts from the settings, and does not exist without them', async () => {
  const gateway = await useGateway({
    settings: { CARTWRIGHT__SERVER__SECURITY_CONTACTS: '["mailto:security@shop.example"]' }
  })
  const { headers, text } = await gateway.request('GET', SECURITY)
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(text).toMatch(/^Contact: mailto:security@shop\.example\nExpires: (.+Z)\nCanonical: http.+\n$/)
  const [, expires = ''] = /Expires: (.+)/.exec(text) ?? []
  const days = (Date.parse(expires) - Date.now()) / 86_400_000
  expect(days).toBeGreaterThan(170)
  expect(days).toBeLessThan(366)
  expect((await (await useGateway()).request('GET', SECURITY)).status).toBe(404)
})
