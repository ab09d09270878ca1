import { expect, test } from 'vitest'
import { browse, moduleOf, useSharedGateway } from '../../../test/support/gateway.ts'
import { SECRET_SETTINGS } from '../../../test/support/secrets.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { loadConfig } from '../../config.ts'
import { createDevelopmentPeerCheck } from './development-access.ts'

shareShops()

const routes = moduleOf('x', ['/api/x'], ({ public: open }) => {
  open.get('/x', browse, async () => ({}))
})
const statusOf = async (settings: Record<string, string>, host: string, url = '/api/x') => {
  const gateway = await useSharedGateway({ modules: [routes], settings })
  const { status, json } = await gateway.request('GET', url, { headers: { host } })
  return [status, json.code]
}

test.each(['localhost:8080', 'LOCALHOST', '127.0.0.1:8080', '[::1]:8080', '127.8.8.8'])(
  'in development a request for the Host %s is served',
  async host => {
    expect(await statusOf({}, host)).toEqual([200, undefined])
  }
)

test.each(['rebound.example', 'localhost.rebound.example', '127.0.0.1.rebound.example:80', '192.168.0.2'])(
  'in development a request for the Host %j is refused with 421 at every path',
  async host => {
    for (const url of ['/api/x', '/', '/nowhere', '/openapi.json'])
      expect(await statusOf({}, host, url)).toEqual([421, 'HOST_NOT_SERVED'])
  }
)

test('diagnostics endpoints respond to every Host header', async () => {
  expect(await statusOf({}, '10.1.2.3:8080', '/healthz')).toEqual([200, undefined])
})

test('requests for the host of public_url or of the settings are served, and in production for every Host', async () => {
  const settings = {
    CARTWRIGHT__SERVER__PUBLIC_URL: 'https://shop.example:8443',
    CARTWRIGHT__SERVER__DEVELOPMENT_HOSTS: '["shop.test"]'
  }
  expect(await statusOf(settings, 'shop.example')).toEqual([200, undefined])
  expect(await statusOf(settings, 'Shop.Test:8080')).toEqual([200, undefined])
  expect(await statusOf(settings, 'other.test')).toEqual([421, 'HOST_NOT_SERVED'])
  expect(await statusOf({ CARTWRIGHT__ENVIRONMENT: 'production' }, 'other.test')).toEqual([200, undefined])
})

test.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['172.17.0.9', true],
  ['::ffff:172.17.0.9', true],
  ['2001:db8::7', true],
  ['172.18.0.1', false],
  ['192.0.2.1', false],
  ['2001:db8::8', false],
  [undefined, false]
])('a request from the peer address %s can read what only this machine may: %s', (address, is) => {
  const isNear = createDevelopmentPeerCheck(
    loadConfig([], {
      ...SECRET_SETTINGS,
      CARTWRIGHT__SERVER__DEVELOPMENT_PEERS: '["172.17.0.0/16", "2001:db8::7"]'
    })
  )
  expect(isNear(address)).toBe(is)
})

test.each(['1.2.3', '10.0.0.0/33', '::/129'])(
  'a peer setting %s that is not an address prevents the start',
  peer => {
    const settings = { ...SECRET_SETTINGS, CARTWRIGHT__SERVER__DEVELOPMENT_PEERS: `["${peer}"]` }
    expect(() => loadConfig([], settings)).toThrow('must be an IP address or network')
  }
)
