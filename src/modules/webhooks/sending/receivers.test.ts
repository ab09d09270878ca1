import type { lookup as dnsLookup } from 'node:dns'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { broken } from '../../../../test/support/webhook-receiver.ts'
import { DELIVERIES, ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { createHttpClient } from '../../../platform/http/client.ts'
import { makeSecret } from '../signatures/sign.ts'
import { createRequest } from './request.ts'

const GIGABYTE = 1_000_000_000

test('receivers that redirect, pour, lie about who they are or are inside of the network get nothing out of the shop', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]' })
  const { admin, receiver } = shop
  let poured = 0
  receiver.at('/redirect', response => response.writeHead(302, { location: receiver.url }).end())
  receiver.at('/endless', response => {
    response.writeHead(200, { 'content-length': String(GIGABYTE) })
    const chunk = Buffer.alloc(65_536, 'x')
    const pour = () => {
      while (!response.destroyed && poured < GIGABYTE) {
        poured += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', pour)
    pour()
  })
  receiver.at('/later', response => response.writeHead(503, { 'retry-after': '7200' }).end('busy'))
  const base = `https://127.0.0.1:${receiver.port}`
  /** What became of a first try. */
  async function tried(url: string) {
    const { id } = await shop.subscribe({ url, event_types: ['orders.canceled'] })
    const { json } = await admin.post(`${ENDPOINTS}/${id}/test`)
    const read = async () => (await admin.get(`${DELIVERIES}/${json.id}`)).json
    await expect.poll(async () => (await read()).attempts.length, PATIENCE).toBeGreaterThan(0)
    const { status, attempts } = await read()
    return { id: json.id, status, ...attempts.at(-1) }
  }
  const redirected = await tried(`${base}/redirect`)
  expect(redirected).toMatchObject({ status: 'pending', status_code: 302 })
  expect(redirected.error).toContain('not followed')
  expect(await tried(`${base}/endless`)).toMatchObject({
    ...{ status: 'delivered', status_code: 200 },
    answer: 'x'.repeat(1_024)
  })
  expect(poured).toBeLessThan(GIGABYTE / 10)
  const later = await tried(`${base}/later`)
  expect(later).toMatchObject({ status: 'pending', status_code: 503, answer: 'busy' })
  const due = `select id from webhooks.deliveries where id = $1 and due_at > now() + interval '1 hour'`
  expect(await shop.sql(due, [later.id])).toHaveLength(1)
  // A name may mean anything by the time that it is looked up.
  const inside = await tried(`https://localhost:${receiver.port}/inside`)
  expect(inside).toMatchObject({ status_code: null, error: 'localhost is not a public address' })
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(
    new Set(['/redirect', '/endless', '/later'])
  )
})

test('who has no certificate for the name is not told, and a name is judged where the socket connects', async () => {
  const shop = await useWebhooks()
  const { receiver } = shop
  const key = makeSecret()
  const sealing = { open: (sealed: Buffer) => sealed.toString() }
  const wanted = { id: 'msg', body: '{}', secret: Buffer.from(key), previous_secret: null }
  const { signal } = new AbortController()
  let asked = 0
  const lookup = ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) => {
    asked += 1
    done(null, [{ address: '127.0.0.1', family: 4 }])
  }) as unknown as typeof dnsLookup
  const tryOnce = (privateHosts: string[], host: string) => {
    const http = createHttpClient({ privateHosts, lookup })
    const url = `https://${host}:${receiver.port}/`
    // It passes before its name is looked up.
    expect(http.judge({ url }).hostname).toBe(host)
    return createRequest({ http, sealing, timeoutMs: 20_000 })({ ...wanted, url }, signal)
  }
  expect(await tryOnce([], 'hooks.example')).toMatchObject({
    status_code: null,
    error: 'hooks.example is not a public address'
  })
  expect(asked).toBe(1)
  const lied = await tryOnce(['hooks.example'], 'hooks.example')
  expect(lied.error).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/)
  expect(receiver.received).toEqual([])
})

test('a slow receiver holds up nobody, and what was sent and not noted comes again with the same id', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__WEBHOOKS__TIMEOUT_SECONDS: '30' })
  const { receiver } = shop
  const held: (() => void)[] = []
  receiver.at('/slow', response => held.push(() => response.writeHead(204).end()))
  const slow = await shop.subscribe({ url: `https://127.0.0.1:${receiver.port}/slow` })
  const quick = await shop.subscribe()
  const came = (path: string) => receiver.received.filter(each => each.path === path)
  for (let order = 0; order < 6; order += 1) await shop.place()
  await expect.poll(() => came('/hooks').length, PATIENCE).toBe(6)
  // Four at once are asked of one endpoint.
  await expect.poll(() => held.length, PATIENCE).toBe(4)
  await shop.place()
  await expect.poll(() => came('/hooks').length, PATIENCE).toBe(7)
  expect(held.length).toBe(4)

  // Whoever sent these four has died, as far as others can tell: one of them is taken over.
  const [lost] = came('/slow')
  const id = lost?.headers['webhook-id']
  await shop.sql(
    `update webhooks.deliveries set lease = gen_random_uuid(), due_at = now() - interval '1 minute' where id = $1`,
    [id]
  )
  held.shift()?.()
  const again = () => came('/slow').filter(({ headers }) => headers['webhook-id'] === id)
  await expect.poll(() => again().length, PATIENCE).toBe(2)
  expect(again().map(({ body }) => body)).toEqual([lost?.body, lost?.body])
  for (const { body, headers } of came('/slow'))
    new Webhook(slow.secret).verify(body, headers as Record<string, string>)
  const [{ body = '', headers = {} } = {}] = came('/hooks')
  expect(() => new Webhook(slow.secret).verify(body, headers as Record<string, string>)).toThrow()
  new Webhook(quick.secret).verify(body, headers as Record<string, string>)
})

test('both secrets sign until the time of the old one is over; one that is gone or fails for days is switched off', async () => {
  const shop = await useWebhooks()
  const { admin, receiver, sql } = shop
  const { id, secret } = await shop.subscribe()
  const path = `${ENDPOINTS}/${id}`
  const rotated = (await admin.post(`${path}/rotate`, { overlap_hours: 1 })).json
  const sent = async () => {
    const before = receiver.received.length
    await shop.place()
    await shop.arrived(before + 1)
    const { body, headers } = receiver.received.at(-1) as (typeof receiver.received)[number]
    const knows = (key: string) => {
      try {
        return Boolean(new Webhook(key).verify(body, headers as Record<string, string>))
      } catch {
        return false
      }
    }
    return { old: knows(secret), new: knows(rotated.secret) }
  }
  expect(rotated.previous_until).not.toBeNull()
  expect(await sent()).toEqual({ old: true, new: true })
  await sql('update webhooks.endpoints set previous_until = now()')
  expect(await sent()).toEqual({ old: false, new: true })
  await shop.becomes('delivered', 2)

  const isOff = async (reason: string) => {
    await expect.poll(async () => (await admin.get(path)).json.active, PATIENCE).toBe(false)
    expect((await admin.get(path)).json.disabled_reason).toBe(reason)
    const on = (await admin.patch(path, { active: true })).json
    expect([on.active, on.disabled_reason, on.failing_since]).toEqual([true, null, null])
  }
  receiver.replies.push(response => response.writeHead(410).end())
  await shop.place()
  await shop.becomes('dead')
  await isOff('gone')

  receiver.replies.push(broken)
  await shop.place()
  await expect.poll(() => shop.waiting(), PATIENCE).toBe(1)
  expect((await admin.get(path)).json).toMatchObject({ active: true, failing_since: expect.any(String) })
  await sql(`update webhooks.endpoints set failing_since = now() - interval '5 days'`)
  receiver.replies.push(broken)
  await shop.place()
  await isOff('failing')
  const said = shop.log.filter(line => line.includes('an endpoint of webhooks is switched off'))
  expect(said.map(line => JSON.parse(line).reason)).toEqual(['gone', 'failing'])
  // What waited comes now, and the days begin anew with the next failure.
  await shop.hurry()
  await shop.becomes('delivered', 4)
  await sql('update webhooks.endpoints set failing_since = now()')
  await shop.place()
  await shop.becomes('delivered', 5)
  expect((await admin.get(path)).json.failing_since).toBeNull()
})
