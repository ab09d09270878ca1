import type { LookupAddress } from 'node:dns'
import { isIPv6 } from 'node:net'
import { expect, test, vi } from 'vitest'
import { DELIVERIES, ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'

/** What names of this test mean at this moment, and which were asked for; all others mean what they do. */
const names = vi.hoisted(() => ({ means: new Map<string, string[]>(), asked: [] as string[] }))
vi.mock('node:dns', async importOriginal => {
  const dns = await importOriginal<typeof import('node:dns')>()
  const lookup = (name: string, options: object, done: (error: null, found: LookupAddress[]) => void) => {
    const addresses = names.means.get(name)
    if (addresses === undefined) return dns.lookup(name, options, done as never)
    names.asked.push(name)
    done(
      null,
      addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }))
    )
  }
  return { ...dns, lookup }
})

const PUBLIC = ['93.184.215.14']

/** A shop, and a receiver in its own network that nobody has allowed. */
async function useInside() {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '[]' })
  const { admin, receiver } = shop
  return {
    ...shop,
    /** What became of the first try to tell an endpoint something. */
    tried: async (id: string) => {
      const { status, json, text } = await admin.post(`${ENDPOINTS}/${id}/test`)
      expect(status, text).toBe(201)
      const read = async () => (await admin.get(`${DELIVERIES}/${json.id}`)).json
      await expect.poll(async () => (await read()).attempts.length, PATIENCE).toBeGreaterThan(0)
      const { status: became, attempts } = await read()
      return { status: became, first: attempts.at(-1) }
    },
    /** What is kept of a try that was not made. */
    refused: (host: string) => ({
      status: 'pending',
      first: { status_code: null, answer: null, error: `${host} is not a public address` }
    }),
    at: (host: string) => `https://${host}:${receiver.port}/hooks`
  }
}

test('a name that is public when an endpoint is made and private when it is told something is sent nothing', async () => {
  const { subscribe, tried, refused, at, receiver } = await useInside()
  for (const [index, inside] of [
    ['127.0.0.1'],
    ['0.0.0.0'],
    ['::1', '10.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['64:ff9b::7f00:1'],
    ['169.254.169.254']
  ].entries()) {
    const host = `rebind-${index}.example`
    names.means.set(host, PUBLIC)
    const { id } = await subscribe({ url: at(host), event_types: ['orders.canceled'] })
    names.means.set(host, inside)
    expect(names.asked).not.toContain(host)
    expect(await tried(id), inside.join()).toMatchObject(refused(host))
    expect(names.asked).toContain(host)
  }
  expect(receiver.connections()).toBe(0)
})

test('however a private address is written, it is refused when it is said and when it is used', async () => {
  const { admin, subscribe, tried, refused, at, receiver, sql } = await useInside()
  names.means.set('moved.example', PUBLIC)
  const { id } = await subscribe({ url: at('moved.example'), event_types: ['orders.canceled'] })
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
    const said = await admin.patch(`${ENDPOINTS}/${id}`, { url: at(written) })
    expect([said.status, said.json.code], written).toEqual([400, 'WEBHOOKS_URL_REFUSED'])
    // It stands there all the same, such as since a time when it was allowed.
    await sql('update webhooks.endpoints set url = $1', [at(written)])
    expect(await tried(id), written).toMatchObject(refused(host))
  }
  expect(receiver.connections()).toBe(0)
})

test('who redirects to a private address is told nothing there', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]' })
  const { admin, receiver } = shop
  names.means.set('inside.example', ['127.0.0.1'])
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
