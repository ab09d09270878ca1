import { expect, test } from 'vitest'
import { ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { newId } from '../../../kernel/ids.ts'

const url = 'https://example.com/hooks'

test('a webhook endpoint is created, read, updated by version, listed and deleted, and returns its secret once', async () => {
  const shop = await useWebhooks()
  const { admin } = shop
  const key = { 'idempotency-key': newId() }
  const body = { url: `${url}#part`, event_types: ['orders.placed'], description: 'ERP' }
  const made = await admin.post(ENDPOINTS, body, key)
  const { id, secret } = made.json
  expect(made.json).toMatchObject({
    url,
    description: 'ERP',
    active: true,
    disabled_reason: null,
    version: 1
  })
  expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32)
  expect((await admin.post(ENDPOINTS, body, key)).json).toEqual(made.json)
  const path = `${ENDPOINTS}/${id}`
  const second = await shop.subscribe({ url })
  expect(second.event_types).toBeNull()
  expect((await admin.get(`${ENDPOINTS}?count=true&limit=1`)).json).toMatchObject({
    total: 2,
    next_cursor: expect.any(String),
    items: [{ id: second.id }]
  })
  const changed = await admin.patch(path, { event_types: null, active: false }, { 'if-match': '"1"' })
  expect([changed.headers.etag, changed.json.event_types, changed.json.active]).toEqual(['"2"', null, false])
  expect((await admin.patch(path, {}, { 'if-match': '"2"' })).json.version).toBe(2)
  for (const stale of [
    await admin.patch(path, { active: true }, { 'if-match': '"1"' }),
    await admin.post(`${path}/rotate`, {}, { 'if-match': '"1"' }),
    await admin.delete(path, undefined, { 'if-match': '"1"' })
  ])
    expect([stale.status, stale.json.code]).toEqual([412, 'WEBHOOKS_ENDPOINT_STALE'])
  const rotated = await admin.post(`${path}/rotate`, {}, { 'if-match': '"2"' })
  expect([rotated.status, rotated.json.secret === secret]).toEqual([200, false])
  const { sql, log } = shop
  const everywhere = JSON.stringify([
    (await admin.get(path)).json,
    (await admin.get(ENDPOINTS)).json,
    await sql(
      `select *, encode(secret, 'escape') as a, encode(previous_secret, 'escape') as b from webhooks.endpoints`
    ),
    await sql('select * from cartwright.audit'),
    log
  ])
  for (const each of [secret, rotated.json.secret]) expect(everywhere).not.toContain(each.slice(6, 40))
  expect((await admin.delete(path)).status).toBe(204)
  for (const gone of [
    await admin.get(path),
    await admin.patch(path, { active: true }),
    await admin.post(`${path}/test`)
  ])
    expect([gone.status, gone.json.code]).toEqual([404, 'WEBHOOKS_ENDPOINT_NOT_FOUND'])
})

test('webhook endpoints with private URLs or unknown event types, or above the limit, are rejected', async () => {
  const { admin, subscribe } = await useWebhooks({
    CARTWRIGHT__WEBHOOKS__ENDPOINTS_MAX: '1',
    CARTWRIGHT__HTTP__PRIVATE_HOSTS: '[]'
  })
  for (const refused of [
    ...[
      'http://example.com/',
      'ftp://example.com/',
      'https://user:pass@example.com/',
      'https://user@example.com/'
    ],
    ...[
      'https://10.0.0.1/',
      'https://169.254.169.254/latest',
      'https://0x7f.1/',
      'https://[::1]/',
      'https://[::]/'
    ],
    ...['https://[::ffff:10.0.0.1]/', 'https://[fe80::1]/', 'https://2130706433/', 'nonsense', 'https://']
  ]) {
    const { status, json, text } = await admin.post(ENDPOINTS, { url: refused })
    expect([status, json.code, json.errors[0].path], refused).toEqual([
      400,
      'WEBHOOKS_URL_REFUSED',
      'body/url'
    ])
    expect(text).not.toContain('pass@')
  }
  for (const injected of ['https://example.com/\r\nx-evil: 1', ''])
    expect((await admin.post(ENDPOINTS, { url: injected })).json.code).toBe('VALIDATION_FAILED')
  const event_types = ['orders.placed', 'auth.password_reset_requested', 'nothing.happened']
  const unknown = await admin.post(ENDPOINTS, { url, event_types })
  expect([unknown.json.code, unknown.json.errors.map(({ path }: { path: string }) => path)]).toEqual([
    'WEBHOOKS_EVENT_TYPE_UNKNOWN',
    ['body/event_types/1', 'body/event_types/2']
  ])
  const misspelt = await admin.post(ENDPOINTS, { url, event_types: ['order.placed'] })
  expect(misspelt.json.errors[0].message).toContain('did you mean "orders.placed"?')
  expect((await admin.post(ENDPOINTS, { url, event_types: [] })).status).toBe(400)
  const made = await subscribe({ url })
  const full = await admin.post(ENDPOINTS, { url })
  expect([full.status, full.json.code, full.json.limit]).toEqual([409, 'WEBHOOKS_ENDPOINTS_LIMIT', 1])
  const moved = await admin.patch(`${ENDPOINTS}/${made.id}`, { url: 'https://127.0.0.2/' })
  expect(moved.json.code).toBe('WEBHOOKS_URL_REFUSED')
})

test('an event gets a webhook job only while an endpoint subscribes to it', async () => {
  const shop = await useWebhooks()
  const hasJob = async () =>
    // Without a job, the event is only inserted into the log.
    (await shop.record(() => shop.emitOrderPlaced())).statements.includes('outbox.insert_messages')
  await shop.subscribe({ event_types: ['orders.canceled'] })
  // Until the endpoints are loaded, every event gets a job.
  await expect.poll(hasJob, PATIENCE).toBe(false)
  const { id } = await shop.subscribe({ event_types: ['orders.placed'] })
  expect(await hasJob()).toBe(true)
  await expect.poll(hasJob, PATIENCE).toBe(true)
  expect((await shop.admin.patch(`${ENDPOINTS}/${id}`, { active: false })).status).toBe(200)
  await expect.poll(hasJob, PATIENCE).toBe(false)
})
