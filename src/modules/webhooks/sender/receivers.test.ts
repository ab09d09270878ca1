import type { lookup as dnsLookup } from 'node:dns'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { broken } from '../../../../test/support/webhook-receiver.ts'
import { DELIVERIES, ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { newId } from '../../../kernel/ids.ts'
import { createHttpClient } from '../../../platform/http/client.ts'
import { createWebhookSigningSecret } from '../signatures/sign.ts'
import { createWebhookRequestSender } from './http-request.ts'

const GIGABYTE = 1_000_000_000

test('webhook receivers that redirect, send endless responses or are in the private network gain nothing', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]' })
  const { admin, receiver } = shop
  let bytesSent = 0
  receiver.at('/redirect', response => response.writeHead(302, { location: receiver.url }).end())
  receiver.at('/endless', response => {
    response.writeHead(200, { 'content-length': String(GIGABYTE) })
    const chunk = Buffer.alloc(65_536, 'x')
    const sendChunks = () => {
      while (!response.destroyed && bytesSent < GIGABYTE) {
        bytesSent += chunk.length
        if (!response.write(chunk)) return
      }
    }
    response.on('drain', sendChunks)
    sendChunks()
  })
  receiver.at('/later', response => response.writeHead(503, { 'retry-after': '7200' }).end('busy'))
  const base = `https://127.0.0.1:${receiver.port}`
  /** Sends a test webhook and returns its first attempt. */
  async function firstAttempt(url: string) {
    const { id } = await shop.subscribe({ url, event_types: ['orders.canceled'] })
    const { json } = await admin.post(`${ENDPOINTS}/${id}/test`)
    const read = async () => (await admin.get(`${DELIVERIES}/${json.id}`)).json
    await expect.poll(async () => (await read()).attempts.length, PATIENCE).toBeGreaterThan(0)
    const { status, attempts } = await read()
    return { id: json.id, status, ...attempts.at(-1) }
  }
  const redirected = await firstAttempt(`${base}/redirect`)
  expect(redirected).toMatchObject({ status: 'pending', status_code: 302 })
  expect(redirected.error).toContain('not followed')
  expect(await firstAttempt(`${base}/endless`)).toMatchObject({
    status: 'delivered',
    status_code: 200,
    answer: 'x'.repeat(1_024)
  })
  expect(bytesSent).toBeLessThan(GIGABYTE / 10)
  const later = await firstAttempt(`${base}/later`)
  expect(later).toMatchObject({ status: 'pending', status_code: 503, answer: 'busy' })
  const due = `select id from webhooks.deliveries where id = $1 and due_at > now() + interval '1 hour'`
  expect(await shop.sql(due, [later.id])).toHaveLength(1)
  // A host name can resolve to another address at every lookup.
  const inside = await firstAttempt(`https://localhost:${receiver.port}/inside`)
  expect(inside).toMatchObject({ status_code: null, error: 'localhost is not a public address' })
  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(
    new Set(['/redirect', '/endless', '/later'])
  )
})

test("a webhook receiver needs a certificate for its name, and the name's address is checked on connecting", async () => {
  const shop = await useWebhooks()
  const { receiver } = shop
  const key = createWebhookSigningSecret()
  const secretEncryption = { decrypt: (encrypted: Buffer) => encrypted.toString() }
  const event = { event_id: newId(), event_type: 'orders.placed' }
  const request = { id: 'msg', ...event, body: '{}', secret: Buffer.from(key), previous_secret: null }
  const { signal } = new AbortController()
  let lookups = 0
  const lookup = ((_name: string, _options: unknown, done: (error: null, found: object[]) => void) => {
    lookups += 1
    done(null, [{ address: '127.0.0.1', family: 4 }])
  }) as unknown as typeof dnsLookup
  const tryOnce = (privateHosts: string[], host: string) => {
    const http = createHttpClient({ privateHosts, lookup })
    const url = `https://${host}:${receiver.port}/`
    // The URL is accepted before its name is looked up.
    expect(http.judge({ url }).hostname).toBe(host)
    return createWebhookRequestSender({ http, secretEncryption, timeoutMs: 20_000 })(
      { ...request, url },
      signal
    )
  }
  expect(await tryOnce([], 'hooks.example')).toMatchObject({
    status_code: null,
    error: 'hooks.example is not a public address'
  })
  expect(lookups).toBe(1)
  const impostor = await tryOnce(['hooks.example'], 'hooks.example')
  expect(impostor.error).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/)
  expect(receiver.received).toEqual([])
})

test('a slow webhook receiver delays no other, and a delivery with a lost outcome is sent again with the same id', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__WEBHOOKS__TIMEOUT_SECONDS: '30' })
  const { receiver } = shop
  const held: (() => void)[] = []
  receiver.at('/slow', response => held.push(() => response.writeHead(204).end()))
  const slow = await shop.subscribe({ url: `https://127.0.0.1:${receiver.port}/slow` })
  const quick = await shop.subscribe()
  const receivedAt = (path: string) => receiver.received.filter(each => each.path === path)
  for (let order = 0; order < 6; order += 1) await shop.emitOrderPlaced()
  await expect.poll(() => receivedAt('/hooks').length, PATIENCE).toBe(6)
  // At most four requests to one endpoint run simultaneously.
  await expect.poll(() => held.length, PATIENCE).toBe(4)
  await shop.emitOrderPlaced()
  await expect.poll(() => receivedAt('/hooks').length, PATIENCE).toBe(7)
  expect(held.length).toBe(4)

  // Expires the lease of one of them, as if its process had died, so that it is claimed again.
  const [lost] = receivedAt('/slow')
  const id = lost?.headers['webhook-id']
  await shop.sql(
    `update webhooks.deliveries set lease = gen_random_uuid(), due_at = now() - interval '1 minute' where id = $1`,
    [id]
  )
  held.shift()?.()
  const again = () => receivedAt('/slow').filter(({ headers }) => headers['webhook-id'] === id)
  await expect.poll(() => again().length, PATIENCE).toBe(2)
  expect(again().map(({ body }) => body)).toEqual([lost?.body, lost?.body])
  for (const { body, headers } of receivedAt('/slow'))
    new Webhook(slow.secret).verify(body, headers as Record<string, string>)
  const [{ body = '', headers = {} } = {}] = receivedAt('/hooks')
  expect(() => new Webhook(slow.secret).verify(body, headers as Record<string, string>)).toThrow()
  new Webhook(quick.secret).verify(body, headers as Record<string, string>)
})

test('a webhook is signed with both secrets until the old one expires; an endpoint that fails for days is disabled', async () => {
  const shop = await useWebhooks()
  const { admin, receiver, sql } = shop
  const { id, secret } = await shop.subscribe()
  const path = `${ENDPOINTS}/${id}`
  const rotated = (await admin.post(`${path}/rotate`, { overlap_hours: 1 })).json
  const verifyingSecrets = async () => {
    const before = receiver.received.length
    await shop.emitOrderPlaced()
    await shop.waitForRequests(before + 1)
    const { body, headers } = receiver.received.at(-1) as (typeof receiver.received)[number]
    const verifies = (key: string) => {
      try {
        return Boolean(new Webhook(key).verify(body, headers as Record<string, string>))
      } catch {
        return false
      }
    }
    return { old: verifies(secret), new: verifies(rotated.secret) }
  }
  expect(rotated.previous_until).not.toBeNull()
  expect(await verifyingSecrets()).toEqual({ old: true, new: true })
  await sql('update webhooks.endpoints set previous_until = now()')
  expect(await verifyingSecrets()).toEqual({ old: false, new: true })
  await shop.waitForStatus('delivered', 2)

  const expectDisabledAndEnable = async (reason: string) => {
    await expect.poll(async () => (await admin.get(path)).json.active, PATIENCE).toBe(false)
    expect((await admin.get(path)).json.disabled_reason).toBe(reason)
    const on = (await admin.patch(path, { active: true })).json
    expect([on.active, on.disabled_reason, on.failing_since]).toEqual([true, null, null])
  }
  receiver.replies.push(response => response.writeHead(410).end())
  await shop.emitOrderPlaced()
  await shop.waitForStatus('dead')
  await expectDisabledAndEnable('gone')

  receiver.replies.push(broken)
  await shop.emitOrderPlaced()
  await expect.poll(() => shop.retryCount(), PATIENCE).toBe(1)
  expect((await admin.get(path)).json).toMatchObject({ active: true, failing_since: expect.any(String) })
  await sql(`update webhooks.endpoints set failing_since = now() - interval '5 days'`)
  receiver.replies.push(broken)
  await shop.emitOrderPlaced()
  await expectDisabledAndEnable('failing')
  const warnings = shop.log.filter(line => line.includes('an endpoint of webhooks is switched off'))
  expect(warnings.map(line => JSON.parse(line).reason)).toEqual(['gone', 'failing'])
  // Waiting deliveries are sent now, and the next failure starts a new period.
  await shop.hurry()
  await shop.waitForStatus('delivered', 4)
  await sql('update webhooks.endpoints set failing_since = now()')
  await shop.emitOrderPlaced()
  await shop.waitForStatus('delivered', 5)
  expect((await admin.get(path)).json.failing_since).toBeNull()
})
