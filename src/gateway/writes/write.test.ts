import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import { databaseNamed } from '../../../test/support/database.ts'
import { browse, moduleOf, openGateway, type TestGateway } from '../../../test/support/gateway.ts'
import { defineError } from '../../kernel/errors.ts'
import { statement } from '../../platform/postgres/statement.ts'
import { writeOf } from './write.ts'

const stale = defineError('stale', 'X_STALE', 'It is another one by now.')
const insertRow = statement({
  name: 'test.insert_written',
  takes: { id: 'uuid' },
  text: 'insert into public.written (id) values ($id)'
})
const insertWhere = statement({
  name: 'test.insert_written_where',
  takes: { id: 'uuid', fits: 'bool' },
  gives: { id: 'uuid' },
  text: 'insert into public.written (id) select $id where $fits returning id'
})

const ADMIN = `admin-${randomUUID()}`

let gateway: TestGateway
/** Mounts routes that write: one compares If-Match, one forgets to, one has noReplay. */
const routes = moduleOf('x', ['/api/x'], ({ public: open, admin }) => {
  open.put('/x/versioned', browse, async request => {
    const write = writeOf(request)
    await write.once(gateway.platform.db, async tx => {
      await tx.run(insertRow, { id: write.id })
      write.expect(7, stale)
    })
    return { id: write.id, parts: [write.idOf('a'), write.idOf('b')] }
  })
  open.put('/x/forgetful', browse, async request => {
    const write = writeOf(request)
    await write.once(gateway.platform.db, tx => tx.run(insertRow, { id: write.id }))
    return {}
  })
  open.put('/x/unchanged', browse, async request => {
    const write = writeOf(request)
    const { db } = gateway.platform
    const fits = request.headers['x-changed'] === undefined
    const quick = await write.onceIfUnchanged(db, tx => (tx ?? db).first(insertWhere, { id: write.id, fits }))
    if (quick === undefined) await write.once(db, tx => tx.run(insertRow, { id: write.id }))
    return { id: write.id, quick: quick !== undefined }
  })
  open.post('/x/no-replay', { config: { class: 'browse', noReplay: 'it sends a file' } }, async () => ({}))
  open.post('/x/twice', browse, async request => {
    const write = writeOf(request)
    for (let time = 0; time < 2; time += 1) await write.once(gateway.platform.db, async () => {})
    return {}
  })
  open.post('/x/found/:id', browse, async request => {
    const write = writeOf(request)
    const { id } = request.params as { id: string }
    await write.once(gateway.platform.db, async () => write.result(id))
    return { id: write.resultId() }
  })
  admin.post('/x/admin/:id', browse, async request => {
    const write = writeOf(request)
    await write.once(gateway.platform.db, tx => tx.run(insertRow, { id: write.id }))
    if (request.headers['x-fail'] !== undefined) throw new Error('a bug behind the commit')
    return { id: write.id }
  })
  admin.get('/x/admin/:id', browse, async () => ({}))
  const withoutReplay = { config: { ...browse.config, noReplay: 'it is many transactions' } }
  admin.post('/x/bulk', withoutReplay, async () => ({ before: await audited() }))
})

beforeAll(async () => {
  gateway = await openGateway({ modules: [routes] })
  await gateway.sql('create table public.written (id uuid primary key)')
})
beforeEach(async () => {
  await gateway.sql('truncate cartwright.idempotency_keys, cartwright.audit, public.written')
})
afterAll(() => gateway.close())

const put = (path: string, headers: Record<string, string> = {}) => gateway.request('PUT', path, { headers })
const written = () => gateway.sql('select id from public.written')
const audited = () =>
  gateway.sql('select actor, method, route, params, request_id, status from cartwright.audit')

test.each([
  ['the present version', '"7"', 200],
  ['any version', '*', 200],
  ['another version', '"8"', 412]
])(
  'a write whose If-Match header has %s succeeds unless the version differs',
  async (_what, condition, status) => {
    const answer = await put('/api/x/versioned', { 'if-match': condition })
    expect(answer.status).toBe(status)
    if (status === 412) expect(answer.json).toMatchObject({ code: 'X_STALE', version: 7 })
    expect(await written()).toHaveLength(status === 200 ? 1 : 0)
  }
)

test.each(['""', '"x"', '"-7"', '"1234567890123456"', '"07"', 'W/"7"', '"\u00e9"'])(
  'an If-Match header with %s never matches',
  async condition => {
    const { status, json } = await put('/api/x/versioned', { 'if-match': condition })
    expect([status, json]).toMatchObject([412, { code: 'X_STALE', version: 7 }])
    expect(await written()).toEqual([])
  }
)

test.each(['7', '"7", "8"', "'7'", '"a b"', '"7', 'w/"7"'])(
  'an If-Match header with %s is malformed and gets 400',
  async condition => {
    const { status, json } = await put('/api/x/versioned', { 'if-match': condition })
    expect([status, json]).toMatchObject([
      400,
      { code: 'MALFORMED_IF_MATCH', errors: [{ path: 'headers/if-match' }] }
    ])
    expect(await written()).toEqual([])
  }
)

test('an If-Match condition that a write did not compare is rejected, and the write is rolled back', async () => {
  const answer = await put('/api/x/forgetful', { 'if-match': '"1"' })
  expect([answer.status, answer.json.code]).toEqual([412, 'IF_MATCH_NOT_SUPPORTED'])
  expect(await written()).toEqual([])
  expect((await put('/api/x/forgetful')).status).toBe(200)
})

test('a route without a write rejects an If-Match condition before it does anything', async () => {
  const answer = await gateway.request('POST', '/api/x/no-replay', { headers: { 'if-match': '"1"' } })
  expect([answer.status, answer.json.code]).toEqual([412, 'IF_MATCH_NOT_SUPPORTED'])
  expect((await gateway.request('POST', '/api/x/no-replay', { headers: { 'if-match': '*' } })).status).toBe(
    200
  )
})

test('each write request gets a new operation id, and retries with an idempotency key get the same one', async () => {
  const [first, second] = [await put('/api/x/versioned'), await put('/api/x/versioned')]
  expect(first.json.id).not.toBe(second.json.id)
  const ids = [first.json.id, ...first.json.parts]
  expect(new Set(ids).size).toBe(3)
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[57][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  const key = { 'idempotency-key': randomUUID() }
  const keyed = await put('/api/x/versioned', key)
  await gateway.sql(`update cartwright.idempotency_keys set state = 'applied', answer = null, status = null`)
  expect((await put('/api/x/versioned', key)).json).toEqual(keyed.json)
})

test('the replay of a write returns the object that the write found', async () => {
  const key = { 'idempotency-key': randomUUID() }
  const id = randomUUID()
  const find = () => gateway.request('POST', `/api/x/found/${id}`, { headers: key })
  expect((await find()).json).toEqual({ id })
  await gateway.sql(`update cartwright.idempotency_keys set state = 'applied', answer = null, status = null`)
  expect((await find()).json).toEqual({ id })
})

test.each([
  ['that still fits', {}, true],
  ['that does not fit any more', { 'x-changed': '1' }, false]
])(
  'a statement %s is recorded with its idempotency key exactly when it changed a row',
  async (_what, headers, quick) => {
    expect((await put('/api/x/unchanged', headers)).json.quick).toBe(quick)
    expect(await written()).toHaveLength(1)
    const key = { 'idempotency-key': randomUUID(), ...headers }
    const { json } = await put('/api/x/unchanged', key)
    expect(json.quick).toBe(quick)
    // The process died before it stored the response.
    await gateway.sql(`update cartwright.idempotency_keys set answer = null, status = null, state = 'applied'
    where state = 'done'`)
    expect((await put('/api/x/unchanged', key)).json).toEqual({ id: json.id, quick: false })
    expect(await written()).toHaveLength(2)
  }
)

test('a statement whose idempotency key was taken over by a later retry changes nothing', async () => {
  await gateway.sql(`
    create function public.take_over() returns trigger language plpgsql as $$
      begin update cartwright.idempotency_keys set lease = gen_random_uuid(); return new; end $$;
    create trigger take_over before insert on public.written execute function public.take_over()`)
  const { status, json } = await put('/api/x/unchanged', { 'idempotency-key': randomUUID() })
  await gateway.sql('drop trigger take_over on public.written')
  expect([status, json.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_PROGRESS'])
  expect(await written()).toEqual([])
})

test('a request that records its write twice fails with 500', async () => {
  expect((await gateway.request('POST', '/api/x/twice')).status).toBe(500)
})

test('each unsafe request of an administrator is in the audit log: actor, route and outcome', async () => {
  const { json: me } = await gateway.request('POST', '/api/x/admin/7', { token: ADMIN })
  expect(await audited()).toMatchObject([
    { actor: ADMIN.slice(6), method: 'POST', route: '/api/x/admin/:id', params: { id: '7' }, status: 200 }
  ])
  expect(await written()).toEqual([{ id: me.id }])
  await gateway.request('POST', '/api/x/admin/8', { token: ADMIN, body: '{' })
  expect(await gateway.sql('select params, status from cartwright.audit order by at desc limit 1')).toEqual([
    { params: { id: '8' }, status: 400 }
  ])
  await gateway.sql(`delete from cartwright.audit where status = 400`)
  await gateway.request('GET', '/api/x/admin/7', { token: ADMIN })
  await gateway.request('POST', '/api/x/admin/7', { token: 'customer-1' })
  await gateway.request('POST', '/api/x/admin/7')
  expect(await audited()).toHaveLength(1)
})

test('a failed request is in the audit log with its status, and its retry adds no second entry', async () => {
  const headers = { 'idempotency-key': randomUUID(), 'x-fail': '1' }
  const fail = () => gateway.request('POST', '/api/x/admin/7', { token: ADMIN, headers })
  expect((await fail()).status).toBe(500)
  expect(await audited()).toMatchObject([{ status: 500 }])
  await fail()
  expect(await audited()).toHaveLength(1)
})

test('the audit entry is written in the transaction of the change, and without it nothing is changed', async () => {
  await gateway.sql('alter table cartwright.audit rename to away')
  const answer = await gateway.request('POST', '/api/x/admin/7', { token: ADMIN })
  await gateway.sql('alter table cartwright.away rename to audit')
  expect(answer.status).toBe(500)
  expect(await written()).toEqual([])
})

test('a request of many transactions is in the audit log before the first of them, or does not run', async () => {
  const bulk = () => gateway.request('POST', '/api/x/bulk', { token: ADMIN })
  expect((await bulk()).json.before).toMatchObject([{ route: '/api/x/bulk', status: null }])
  expect(await audited()).toMatchObject([{ route: '/api/x/bulk', status: 200 }])
  await gateway.sql('alter table cartwright.audit rename to away')
  const answer = await bulk()
  await gateway.sql('alter table cartwright.away rename to audit')
  expect(answer.status).toBe(500)
})

test('a request whose Idempotency-Key holds no claim cannot write', () => {
  const config = {}
  const request = {
    headers: { 'idempotency-key': randomUUID() },
    routeOptions: { method: 'POST', config },
    idempotency: null,
    audit: null,
    write: null,
    operationId: null
  } as unknown as FastifyRequest
  expect(() => writeOf(request)).toThrow('holds no claim')
  Object.assign(config, { body: { stream: 'text/csv', bytesMax: 1 } })
  expect(writeOf(request).id).toHaveLength(36)
})

/** Blocks inserts into the audit log until the returned function is called, or the test ends. */
async function blockAudit(): Promise<() => Promise<unknown>> {
  const [row] = await gateway.sql('select current_database() as name')
  const holder = new pg.Client({ connectionString: databaseNamed(inject('serverUrl'), String(row?.name)) })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin; lock table cartwright.audit in access exclusive mode')
  return () => holder.query('commit')
}

test('the response of a replay does not wait for the audit log', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const first = await gateway.request('POST', '/api/x/admin/7', { token: ADMIN, headers })
  const unblock = await blockAudit()
  const replay = await gateway.request('POST', '/api/x/admin/7', { token: ADMIN, headers })
  expect([replay.status, replay.text]).toEqual([200, first.text])
  await unblock()
  await expect.poll(async () => (await audited()).length).toBe(2)
})
