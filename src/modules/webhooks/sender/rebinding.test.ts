import type { LookupAddress } from 'node:dns'
import { isIPv6 } from 'node:net'
import { expect, test, vi } from 'vitest'
import { DELIVERIES, ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'

/** Fake DNS: addresses by name, and the names that were looked up. Other names are resolved as usual. */
const fakeDns = vi.hoisted(() => ({ addresses: new Map<string, string[]>(), lookups: [] as string[] }))
vi.mock('node:dns', async importOriginal => {
  const dns = await importOriginal<typeof import('node:dns')>()
  const lookup = (name: string, options: object, done: (error: null, found: LookupAddress[]) => void) => {
    const addresses = fakeDns.addresses.get(name)
    if (addresses === undefined) return dns.lookup(name, options, done as never)
    fakeDns.lookups.push(name)
    done(
      null,
      addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }))
    )
  }
  return { ...dns, lookup }
})

const PUBLIC = ['93.184.215.14']

/** A shop, and a receiver in its private network that `http.private_hosts` does not allow. */
async function usePrivateReceiver() {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '[]' })
  const { admin, receiver } = shop
  return {
    ...shop,
    /** Sends a test webhook and returns its first attempt. */
    firstAttempt: async (id: string) => {
      const { status, json, text } = await admin.post(`${ENDPOINTS}/${id}/test`)
      expect(status, text).toBe(201)
      const read = async () => (await admin.get(`${DELIVERIES}/${json.id}`)).json
      await expect.poll(async () => (await read()).attempts.length, PATIENCE).toBeGreaterThan(0)
      const delivery = await read()
      return { status: delivery.status, first: delivery.attempts.at(-1) }
    },
    /** An attempt that was rejected before it connected. */
    rejected: (host: string) => ({
      status: 'pending',
      first: { status_code: null, answer: null, error: `${host} is not a public address` }
    }),
    urlAt: (host: string) => `https://${host}:${receiver.port}/hooks`
  }
}

test('no webhook is sent to a host name that was public when the endpoint was created and is private now', async () => {
  const { subscribe, firstAttempt, rejected, urlAt, receiver } = await usePrivateReceiver()
  for (const [index, privateAddresses] of [
    ['127.0.0.1'],
    ['0.0.0.0'],
    ['::1', '10.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['169.254.169.254']
  ].entries()) {
    const host = `rebind-${index}.example`
    fakeDns.addresses.set(host, PUBLIC)
    const { id } = await subscribe({ url: urlAt(host), event_types: ['orders.canceled'] })
    fakeDns.addresses.set(host, privateAddresses)
    expect(fakeDns.lookups).not.toContain(host)
    expect(await firstAttempt(id), privateAddresses.join()).toMatchObject(rejected(host))
    expect(fakeDns.lookups).toContain(host)
  }
  expect(receiver.connections()).toBe(0)
})

test('a private address is rejected for webhooks in every notation, when it is stored and when it is used', async () => {
  const { admin, subscribe, firstAttempt, rejected, urlAt, receiver, sql } = await usePrivateReceiver()
  fakeDns.addresses.set('moved.example', PUBLIC)
  const { id } = await subscribe({ url: urlAt('moved.example'), event_types: ['orders.canceled'] })
  for (const [written, host] of [
    ['127.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['１２７.０.０.１', '127.0.0.1'],
    ['%31%32%37.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '0.0.0.0'],
    ['0', '0.0.0.0'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
    ['[::ffff:7f00:1]', '::ffff:7f00:1'],
    ['[::127.0.0.1]', '::7f00:1'],
    ['[::]', '::'],
    ['[::1]', '::1']
  ] as const) {
    const patched = await admin.patch(`${ENDPOINTS}/${id}`, { url: urlAt(written) })
    expect([patched.status, patched.json.code], written).toEqual([400, 'WEBHOOKS_URL_REFUSED'])
    // Stores it nevertheless, as if it had been allowed before.
    await sql('update webhooks.endpoints set url = $1', [urlAt(written)])
    expect(await firstAttempt(id), written).toMatchObject(rejected(host))
  }
  expect(receiver.connections()).toBe(0)
})

test("a webhook's redirect to a private address is not followed", async () => {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]' })
  const { admin, receiver } = shop
  fakeDns.addresses.set('inside.example', ['127.0.0.1'])
  for (const [status, host] of [
    [301, 'inside.example'],
    [302, '[::ffff:127.0.0.1]'],
    [303, '0.0.0.0'],
    [307, '2130706433'],
    [308, '127.0.0.1']
  ] as const) {
    const location = `https://${host}:${receiver.port}/inside`
    receiver.at(`/${status}`, response =>
      response.writeHead(status, { location, 'retry-after': '3600' }).end()
    )
    const url = `https://127.0.0.1:${receiver.port}/${status}`
    const { id } = await shop.subscribe({ url, event_types: ['orders.canceled'] })
    const { json } = await admin.post(`${ENDPOINTS}/${id}/test`)
    const attempts = async () => (await admin.get(`${DELIVERIES}/${json.id}`)).json.attempts
    await expect.poll(async () => (await attempts()).length, PATIENCE).toBe(1)
    expect(await attempts()).toMatchObject([
      { status_code: status, error: expect.stringContaining('not followed') }
    ])
  }
  expect(receiver.connections()).toBe(5)
})
