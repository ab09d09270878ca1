import type { lookup as dnsLookup } from 'node:dns'
import { expect, test } from 'vitest'
import { isPublicAddress, lookupPublicAddress } from './addresses.ts'

const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2600::1',
  '2001:200::1',
  '2a00:1450:4001:81b::200e',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
  '2002:808:808::1'
]
const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '::FFFF:169.254.169.254',
  '0:0:0:0:0:ffff:7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:10::1',
  '2002:a00:1::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fe80::1%eth0',
  '2600::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  ''
]

test.each(PUBLIC)('the IP address %s is public', address => {
  expect(isPublicAddress(address)).toBe(true)
})
test.each(PRIVATE)('the IP address %s is private or reserved', address => {
  expect(isPublicAddress(address)).toBe(false)
})

const answering = (...addresses: string[]) =>
  ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) =>
    done(
      null,
      addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    )) as unknown as typeof dnsLookup
const find = (lookup: typeof dnsLookup, all: boolean) =>
  new Promise<unknown>(resolve =>
    lookupPublicAddress(lookup)('shop.test', { all }, (error, found, family) =>
      resolve(error === null ? (all ? found : { address: found, family }) : error)
    )
  )

test('an outbound connection uses only the public addresses of a host name', async () => {
  const mixed = answering('10.0.0.1', '::ffff:127.0.0.1', '8.8.8.8', '2600::1', 'fd00::1')
  const kept = [
    { address: '8.8.8.8', family: 4 },
    { address: '2600::1', family: 6 }
  ]
  expect(await find(mixed, true)).toEqual(kept)
  expect(await find(mixed, false)).toEqual(kept[0])
})

test('an outbound host name without a public address is rejected, and an unknown name keeps its DNS error', async () => {
  expect(await find(answering('192.168.0.1', '::1'), true)).toMatchObject({ reason: 'address' })
  expect(await find(answering(), false)).toMatchObject({ reason: 'address' })
  const missing = Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
  const lookup = ((_name: string, _options: unknown, done: (error: Error) => void) =>
    done(missing)) as unknown as typeof dnsLookup
  expect(await find(lookup, true)).toBe(missing)
})
