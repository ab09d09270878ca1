import { expect, test } from 'vitest'
import { browse, moduleOf, useGateway } from '../../../test/support/gateway.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'

shareShops()

const LIMITED = {
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
  CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '3'
}
const routes = moduleOf('x', ['/api/x'], ({ public: open, wellKnown }) => {
  open.get('/x', browse, async () => ({}))
  wellKnown.get('/.well-known/x', browse, async () => ({}))
})

test.each(['/docs', '/openapi.json', '/.well-known/x', '/nowhere', '/api/nowhere'])(
  "the page %s counts towards the rate limit of the client's address, together with the public routes",
  async path => {
    const gateway = await useGateway({ modules: [routes], settings: LIMITED })
    const status = async (url: string, remoteAddress = '192.0.2.1') =>
      (await gateway.app.inject({ url, remoteAddress })).statusCode
    await status(path)
    expect([await status('/api/x'), await status('/api/x')]).toEqual([200, 200])
    expect([await status(path), await status('/api/x')]).toEqual([429, 429])
    expect(await status('/api/x', '192.0.2.2')).toBe(200)
  }
)

test('diagnostics endpoints bypass every rate limit', async () => {
  const gateway = await useGateway({ modules: [routes], settings: LIMITED })
  for (const path of ['/healthz', '/readyz', '/metricsz']) {
    for (let count = 0; count < 5; count += 1)
      expect((await gateway.request('GET', path)).status, path).toBe(200)
  }
  expect((await gateway.request('GET', '/api/x')).status).toBe(200)
})
