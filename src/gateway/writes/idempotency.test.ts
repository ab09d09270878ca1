import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { moduleOf, openGateway, type TestGateway } from '../../../test/support/gateway.ts'
import { DomainError, defineError } from '../../kernel/errors.ts'
import { deleteExpiredIdempotencyKeys } from '../../platform/idempotency/keys.ts'
import { statement } from '../../platform/postgres/statement.ts'
import { writeOf } from './write.ts'

const SECRET = 'told-once-4f9d'
const refusal = defineError('conflict', 'X_REFUSED', 'Not now.')
const passing = defineError('conflict', 'X_SHORT', 'Not at this moment.', { mayPass: true })
const countRow = statement({
  name: 'test.count_row',
  takes: { id: 'uuid' },
  text: 'insert into public.rows (id) values ($id)'
})
const account = { config: { class: 'account' } } as const
const [K1, K2] = ['8e03978e-40d5-43dd-bc93-6894a57f9324', '0b0e6ab5-1c9f-4f5f-9d4e-8f2f0a1f7c11']

const schema = {
  body: Type.Object(
    { outcome: Type.Optional(Type.String({ maxLength: 20 })), n: Type.Optional(Type.Integer()) },
    { additionalProperties: false }
  )
}
const outcomes: Record<string, () => unknown> = {
  fail: () => Promise.reject(new Error('a bug')),
  refuse: () => Promise.reject(refusal()),
  pass: () => Promise.reject(passing()),
  limit: () => Promise.reject(new DomainError('rate_limited', 'X', 'Slow down.'))
}
let gateway: TestGateway
let port = 0
let runs: { id: string; isDone: boolean }[] = []
let gate = Promise.resolve()
/** Hook of `/x/slow` between its reply and the socket. */
let beforeSending = async (): Promise<void> => {}

/** Mounts routes that count runs, wait while the gate is closed, and end with the body's `outcome`. */
const routes = moduleOf('x', ['/api/x'], ({ public: open, secured }) => {
  for (const [tier, path] of [
    [open, '/x/:id'],
    [secured, '/x/own/:id']
  ] as const) {
    tier.post(path, { ...account, schema }, async (request, reply) => {
      runs.push({ id: writeOf(request).id, isDone: false })
      await gate
      const { outcome = 'answer' } = request.body
      await outcomes[outcome]?.()
      if (outcome === 'nothing') return reply.code(204).send()
      reply.code(201).header('etag', '"7"').header('location', '/api/x/1').header('x-other', 'no')
      return { secret: SECRET, run: runs.length }
    })
  }
  open.delete('/x/:id', account, async request => {
    runs.push({ id: writeOf(request).id, isDone: false })
    return { run: runs.length }
  })
  const apply = async (request: FastifyRequest) => {
    const write = writeOf(request)
    const made = await write.once(gateway.platform.db, async tx => {
      runs.push({ id: write.id, isDone: false })
      await tx.run(countRow, { id: write.id })
      await gate
      return 'now'
    })
    if (made === undefined) runs.push({ id: write.id, isDone: true })
    return { applied: made ?? 'before', id: write.resultId() }
  }
  open.post('/x/apply', account, apply)
  open.post('/x/long', account, async request => ({ ...(await apply(request)), text: 'x'.repeat(40_000) }))
  const onSend = async (_request: FastifyRequest, _reply: unknown, payload: unknown) => {
    await beforeSending()
    return payload
  }
  open.post('/x/slow', { ...account, onSend } as typeof account, apply)
  open.post('/x/tell', { config: { ...account.config, secret: 200 } }, apply)
})

beforeAll(async () => {
  gateway = await openGateway({
    modules: [{ ...routes, credentialHeaders: ['x-pass', 'x-ticket'], varyHeaders: ['x-terms'] }],
    settings: { CARTWRIGHT__SERVER__TRUST_PROXY: 'true' }
  })
  await gateway.sql('create table public.rows (id uuid primary key)')
  port = await gateway.listen()
})
beforeEach(async () => {
  runs = []
  gateway.log.length = 0
  await gateway.sql('truncate cartwright.idempotency_keys, public.rows')
})
afterAll(() => gateway.close())

/** Closes the gate. The returned function opens it, and so does the end of the test. */
function close(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  onTestFinished(() => resolve())
  return resolve
}

type Sent = {
  key?: string
  path?: string
  method?: string
  body?: unknown
  token?: string
  headers?: Record<string, string>
}
const send = ({ key = K1, path = '/api/x/1', method = 'POST', body = {}, token, headers = {} }: Sent = {}) =>
  gateway.request(method, path, {
    headers: { 'idempotency-key': key, ...headers },
    ...(token && { token }),
    ...(method === 'POST' && { body })
  })
const apply = (path = '/api/x/apply') => send({ path })
const rows = () => gateway.sql('select * from public.rows')
const stored = () => gateway.sql('select * from cartwright.idempotency_keys order by created_at')

test('a retry with the same idempotency key and request replays the first response: status, body and headers', async () => {
  const first = await send()
  expect(first.headers).not.toHaveProperty('idempotency-replayed')
  for (let again = 0; again < 3; again += 1) {
    const replayed = await send()
    expect(replayed.headers['idempotency-replayed']).toBe('true')
    expect([replayed.status, replayed.text]).toEqual([201, first.text])
    for (const name of ['content-type', 'etag', 'location']) {
      expect(replayed.headers[name], name).toBe(first.headers[name])
    }
    expect(replayed.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
  }
  expect(runs).toHaveLength(1)
})

test('an idempotent retry replays a response without a body, also that of a DELETE', async () => {
  for (const sent of [{ body: { outcome: 'nothing' } }, { method: 'DELETE', key: K2 }]) {
    const [first, second] = [await send(sent), await send(sent)]
    expect(second).toMatchObject({ status: first.status, text: first.text })
    expect(second.headers['idempotency-replayed']).toBe('true')
  }
  expect(runs).toHaveLength(2)
})

test('no response is stored for a request without an idempotency key, or for a GET', async () => {
  await gateway.request('POST', '/api/x/1', { body: {} })
  await gateway.request('POST', '/api/x/1', { body: {} })
  await gateway.request('GET', '/healthz', { headers: { 'idempotency-key': K1 } })
  expect(runs).toHaveLength(2)
  expect(await stored()).toEqual([])
})

test('of 20 simultaneous requests with one idempotency key one runs, 8 wait for its response, the others get a 409', async () => {
  const open = close()
  const sent = Array.from({ length: 20 }, () => send())
  await expect.poll(() => gateway.log.filter(line => line.status === 409).length).toBe(11)
  open()
  const answers = await Promise.all(sent)
  const done = answers.filter(answer => answer.status === 201)
  expect(done).toHaveLength(9)
  expect(done.filter(answer => answer.headers['idempotency-replayed'] === 'true')).toHaveLength(8)
  expect(new Set(done.map(answer => answer.text)).size).toBe(1)
  for (const refused of answers.filter(answer => answer.status !== 201)) {
    expect(refused.status).toBe(409)
    expect(refused.json.code).toBe('IDEMPOTENCY_KEY_IN_PROGRESS')
    expect(refused.headers['retry-after']).toBe('1')
  }
  expect(runs).toHaveLength(1)
})

test('a retry that waited two seconds gets the error that the first request is still running', async () => {
  const open = close()
  const first = send()
  await expect.poll(() => runs.length).toBe(1)
  const startedAt = performance.now()
  const retry = await send()
  expect([retry.status, retry.json.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_PROGRESS'])
  expect(performance.now() - startedAt).toBeGreaterThan(1_900)
  // The lease would have expired by now without renewal.
  await expect.poll(async () => ((await stored())[0]?.lease_until as Date) > new Date()).toBe(true)
  open()
  expect((await first).status).toBe(201)
  expect(runs).toHaveLength(1)
})

test.each([
  ['another body', { body: { n: 1 } }],
  ['the same body written otherwise', { body: '{ }' }],
  ['another resource of the route', { path: '/api/x/2' }],
  ['another query', { path: '/api/x/1?a=b' }],
  ['another condition', { headers: { 'if-match': '"8"' } }],
  ['other terms', { headers: { 'x-terms': 'wholesale' } }]
])(
  'the same idempotency key with %s gets 422, before and after the first request has ended',
  async (_what, changed) => {
    const open = close()
    const first = send()
    await expect.poll(() => runs.length).toBe(1)
    for (const when of ['before', 'after']) {
      const answer = await send(changed)
      expect([answer.status, answer.json.code], when).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
      open()
      await first
    }
    expect(runs).toHaveLength(1)
  }
)

test('the same idempotency key of another caller, method or route is a different key', async () => {
  const strangers: Sent[] = [
    {},
    { headers: { 'x-forwarded-for': '192.0.2.1' } },
    { headers: { 'x-pass': 'a' } },
    { headers: { 'x-pass': 'b' } },
    { headers: { 'x-ticket': 'a' } },
    { headers: { 'x-pass': 'a', 'x-ticket': 'a' } },
    { headers: { 'x-pass': 'a', 'x-ticket': 'b' } },
    { path: '/api/x/own/1', token: 'customer-1' },
    { path: '/api/x/own/1', token: 'customer-2' },
    { method: 'DELETE' },
    { path: '/api/x/apply' }
  ]
  for (const sent of strangers) {
    expect((await send(sent)).headers, JSON.stringify(sent)).not.toHaveProperty('idempotency-replayed')
  }
  expect(runs).toHaveLength(strangers.length)
  for (const sent of strangers) {
    expect((await send(sent)).headers['idempotency-replayed'], JSON.stringify(sent)).toBe('true')
  }
})

test.each([
  ['a bug', { outcome: 'fail' }, 500],
  ['a limit', { outcome: 'limit' }, 429],
  ['a conflict that may pass', { outcome: 'pass' }, 409]
])(
  'after %s the idempotency key can be used again for the same request, with the same operation id',
  async (_what, body, status) => {
    const id = () => runs.at(-1)?.id
    expect((await send({ body })).status).toBe(status)
    const first = id()
    expect(await stored()).toMatchObject([{ state: 'free', operation_id: first }])
    expect((await send({ body })).status).toBe(status)
    expect([runs.length, id()]).toEqual([2, first])
    expect((await send()).status).toBe(422)
  }
)

test('a request with an invalid body does not claim its idempotency key', async () => {
  expect((await send({ body: { n: 'x' } })).status).toBe(400)
  expect(await stored()).toEqual([])
  expect((await send()).status).toBe(201)
})

test('a domain error is stored for an idempotency key and replayed like a success', async () => {
  const first = await send({ body: { outcome: 'refuse' } })
  const second = await send({ body: { outcome: 'refuse' } })
  expect([second.status, second.text]).toEqual([409, first.text])
  expect(second.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(second.headers['idempotency-replayed']).toBe('true')
  expect(runs).toHaveLength(1)
})

test.each([
  'a',
  'a'.repeat(255),
  '"quoted"',
  '8e03978e-40d5-43dd-bc93-6894a57f9324',
  '~!#$%&()*+,-./:;<=>?@[]^_`{|}'
])('an authenticated caller can use the idempotency key %s', async key => {
  const own = { key, path: '/api/x/own/1', token: 'customer-1' }
  expect((await send(own)).status).toBe(201)
  expect((await send(own)).headers['idempotency-replayed']).toBe('true')
})

test.each(['a', 'cart-1', '12345678901', 'a'.repeat(64), 'abababababababababab', '1795263127023879641'])(
  'an anonymous caller cannot use the guessable idempotency key %s',
  async key => {
    const answer = await send({ key })
    expect([answer.status, answer.json.code]).toEqual([400, 'GUESSABLE_IDEMPOTENCY_KEY'])
    expect(answer.json.errors[0].path).toBe('headers/idempotency-key')
    expect(runs).toEqual([])
    expect((await send({ key, headers: { 'x-pass': 'a' } })).status).toBe(201)
  }
)

test('a quoted idempotency key is the same as the unquoted one', async () => {
  await send({ key: `"${K1}"` })
  expect((await send({ key: K1 })).headers['idempotency-replayed']).toBe('true')
})

test.each(['', '""', 'a'.repeat(256), 'a b', 'ä', '"a', 'a"b"', '"a""b"', 'a\tb'])(
  'the idempotency key %j is invalid and gets 400',
  async key => {
    const answer = await send({ key })
    expect([answer.status, answer.json.code]).toEqual([400, 'MALFORMED_IDEMPOTENCY_KEY'])
    expect(answer.json.errors[0].path).toBe('headers/idempotency-key')
    expect(runs).toEqual([])
  }
)

/** Leaves a claim of a dead process: with this state, and its lease expired or not. */
async function leaveClaim(state: 'running' | 'applied', leaseSeconds: number) {
  await gateway.sql(
    `update cartwright.idempotency_keys set state = $1, status = null, answer = null, lease = $2,
       lease_until = now() + make_interval(secs => $3)`,
    [state, randomUUID(), leaseSeconds]
  )
}

test('an idempotency key claimed by a process that died is taken over when the lease expires', async () => {
  await send()
  await leaveClaim('running', 60)
  expect((await send()).status).toBe(409)
  await leaveClaim('running', -1)
  expect((await send({ body: { n: 1 } })).status).toBe(422)
  expect((await send()).status).toBe(201)
  expect(runs[1]?.id).toBe(runs[0]?.id)
  expect(runs).toHaveLength(2)
  expect((await send()).headers['idempotency-replayed']).toBe('true')
})

test('a retry whose wait outlasts the lease of a dead process takes over its idempotency key', async () => {
  await send()
  await leaveClaim('running', 0.5)
  expect((await send()).status).toBe(201)
  expect(runs).toHaveLength(2)
})

test('a retry after a lost response does not apply the write again', async () => {
  const first = (await apply()).json
  expect(first).toMatchObject({ applied: 'now' })
  // The lease no longer matters: a retry gets the response immediately.
  await leaveClaim('applied', 60)
  expect((await apply()).json).toEqual({ ...first, applied: 'before' })
  expect(await rows()).toEqual([{ id: first.id }])
})

test('a slow request whose idempotency key was taken over cannot commit', async () => {
  const open = close()
  const slow = apply()
  await expect.poll(() => runs.length).toBe(1)
  // Owned by another process, so that the holder does not renew it.
  await leaveClaim('running', -1)
  const taker = apply()
  // It waits for the holder's write, and retries if that takes long.
  await expect.poll(() => runs.length).toBeGreaterThanOrEqual(2)
  open()
  const answers = [await slow, await taker]
  expect(answers.map(answer => answer.status)).toEqual([409, 200])
  expect(await rows()).toHaveLength(1)
  expect((await apply()).json).toMatchObject({ applied: 'now' })
})

test('of ten simultaneous retries that take over an expired idempotency key, one runs', async () => {
  await send()
  for (let round = 0; round < 5; round += 1) {
    await leaveClaim('running', -1)
    const before = runs.length
    await Promise.all(Array.from({ length: 10 }, () => send()))
    expect(runs.length - before).toBe(1)
  }
})

test('the response to a client that disconnected is stored, and replayed when the client retries', async () => {
  const open = close()
  const socket = connect(port, '127.0.0.1')
  const head = 'POST /api/x/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n'
  socket.write(`${head}Idempotency-Key: ${K1}\r\n\r\n{}`)
  await expect.poll(() => runs.length).toBe(1)
  socket.destroy()
  await once(socket, 'close')
  open()
  await expect.poll(async () => (await stored())[0]?.state).toBe('done')
  expect((await send()).headers['idempotency-replayed']).toBe('true')
  expect(runs).toHaveLength(1)
})

test('a client that hangs up before the replay is sent does not cause the request to be executed again', async () => {
  await apply('/api/x/slow')
  const sending = Promise.withResolvers<void>()
  const blocked = Promise.withResolvers<void>()
  onTestFinished(() => {
    beforeSending = async () => {}
    blocked.resolve()
  })
  beforeSending = () => {
    sending.resolve()
    return blocked.promise
  }
  const connection = once(gateway.app.server, 'connection')
  const client = connect(port, '127.0.0.1')
  const head =
    'POST /api/x/slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n'
  client.write(`${head}Idempotency-Key: ${K1}\r\n\r\n{}`)
  await sending.promise
  const [socket] = (await connection) as [Socket]
  client.destroy()
  await once(socket, 'close')
  await new Promise(setImmediate)
  expect(runs).toHaveLength(1)
  expect(gateway.log.filter(({ level }) => Number(level) >= 50)).toEqual([])
})

test('a response with a secret is not stored for its idempotency key, and a retry runs the handler again', async () => {
  const first = await apply('/api/x/tell')
  expect(await stored()).toMatchObject([{ state: 'applied', answer: null, status: null }])
  const again = await apply('/api/x/tell')
  expect(again.json).toEqual({ ...first.json, applied: 'before' })
  expect(again.headers).not.toHaveProperty('idempotency-replayed')
  expect(await rows()).toHaveLength(1)
})

test('a long response is not stored for its idempotency key, because many would fill the database', async () => {
  const first = await apply('/api/x/long')
  expect(await stored()).toMatchObject([{ state: 'applied', answer: null }])
  const again = await apply('/api/x/long')
  expect(again.json).toEqual({ ...first.json, applied: 'before' })
  expect(await rows()).toHaveLength(1)
})

test('neither the idempotency key nor the response can be read from the table', async () => {
  await send({ key: 'key-9c1e-plain-0123' })
  const rows = await gateway.sql(
    'select key_hash, fingerprint, answer, t::text as whole from cartwright.idempotency_keys t'
  )
  expect(rows).toHaveLength(1)
  const bytes = Buffer.concat([rows[0]?.key_hash, rows[0]?.fingerprint, rows[0]?.answer] as Buffer[])
  const whole = bytes.toString('latin1') + String(rows[0]?.whole)
  expect(rows[0]?.answer).toBeInstanceOf(Buffer)
  for (const text of ['key-9c1e-plain-0123', SECRET, 'secret', 'application/json'])
    expect(whole).not.toContain(text)
})

test('an idempotency key is kept for 48 hours; then it can be used again, and its row is deleted', async () => {
  await send()
  const [{ hours } = { hours: 0 }] = await gateway.sql(
    'select extract(epoch from expires_at - now()) / 3600 as hours from cartwright.idempotency_keys'
  )
  expect(Number(hours)).toBeCloseTo(48, 1)
  await gateway.sql(`update cartwright.idempotency_keys set expires_at = now() - interval '1 second'`)
  expect((await send({ body: { n: 2 } })).status).toBe(201)
  expect(runs).toHaveLength(2)
  await send({ key: K2 })
  await gateway.sql(
    `update cartwright.idempotency_keys set expires_at = now() - interval '1 second' where answer is not null
       and ctid = (select min(ctid) from cartwright.idempotency_keys)`
  )
  expect(await gateway.platform.db.run(deleteExpiredIdempotencyKeys)).toBe(1)
  expect(await stored()).toHaveLength(1)
})

test('when an idempotency key cannot be claimed, the handler does not run', async () => {
  await gateway.sql('alter table cartwright.idempotency_keys rename to away')
  const answer = await send()
  await gateway.sql('alter table cartwright.away rename to idempotency_keys')
  expect(answer.status).toBe(500)
  expect(runs).toEqual([])
})
