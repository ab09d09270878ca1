import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { browse, moduleOf, type TestGateway, useGateway } from '../../../test/support/gateway.ts'
import { useTraceCollector } from '../../../test/support/trace-collector.ts'
import type { EventType, JobType } from '../../kernel/events.ts'
import { lowestIdAt, newId } from '../../kernel/ids.ts'
import { type TSchema, Type } from '../../kernel/schema.ts'
import { statement } from '../postgres/statement.ts'
import { createStoredTraces } from './stored-traces.ts'
import { formatTraceparent, parseTraceparent } from './trace-context.ts'

const SERVER = 2
const CLIENT = 3
const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }

const tracedJob: JobType = {
  name: 'test.traced',
  description: 'Reads a row.',
  timeoutSeconds: 10,
  payload: Type.Object({})
}
const tracedEvent: EventType<string, TSchema, false> = {
  name: 'test.happened',
  description: 'It happened.',
  subject: 'nothing',
  isVersioned: false,
  payload: Type.Object({})
}
const selectOne = statement({ name: 'test.trace_one', gives: { one: 'int4' }, text: 'select 1 as one' })
const selectWaiting = statement({
  name: 'test.trace_waiting',
  gives: { handler: 'text' },
  text: `select handler from cartwright.jobs where handler like 'test%'`
})
const selectTwo = statement({ name: 'test.trace_two', gives: { two: 'int4' }, text: 'select 2 as two' })

/** A gateway that sends its traces to a collector. Traces are recorded when their caller records them. */
async function useTracedGateway({ status = 200, settings = {} } = {}) {
  const collector = await useTraceCollector(status)
  const routes = moduleOf('x', ['/api/x'], tiers => {
    const config = { class: 'browse', noReplay: 'It changes nothing.' } as const
    tiers.public.post('/x/:id', { config }, async () => {
      const { db, http } = gateway.platform
      await db.rows(selectOne)
      await db.transaction(async tx => {
        await tx.rows(selectOne)
        await tx.rows(selectTwo)
      })
      await http.send({ url: `${collector.url}/other?secret=1`, isConfigured: true })
      return { ok: true }
    })
    tiers.public.get('/x/bug', browse, async () => {
      throw new Error('a bug')
    })
  })
  const gateway: TestGateway = await useGateway({
    settings: {
      CARTWRIGHT__TRACING__URL: collector.url,
      CARTWRIGHT__TRACING__SAMPLE_PERCENT: '0',
      ...settings
    },
    modules: [routes]
  })
  const origin = `http://127.0.0.1:${await gateway.listen()}`
  /** Sends a request whose body arrives after another request was answered. */
  const send = async (method: string, path: string, isSampled: boolean, parent = PARENT) => {
    const traceparent = formatTraceparent({ ...parent, isSampled })
    const headers = { 'content-type': 'application/json', traceparent }
    const sent = request(origin + path, { method, headers })
    const answered = once(sent, 'response')
    sent.flushHeaders()
    await fetch(`${origin}/healthz`)
    sent.end(method === 'POST' ? '{}' : undefined)
    const [response] = (await answered) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  return { ...gateway, ...collector, send }
}

test('a request is a span below its caller, and its statements, transactions and requests are spans below it', async () => {
  const { send, spans, requests, log } = await useTracedGateway()
  expect(await send('POST', '/api/x/7', true)).toBe(200)
  await eventually(() => expect(spans).toHaveLength(4))
  const [served] = spans.filter(({ kind }) => kind === SERVER)
  expect(served).toMatchObject({ ...PARENT, spanId: expect.any(String), parentSpanId: PARENT.spanId })
  expect(served?.name).toBe('POST /api/x/:id')
  expect(served?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '200' } })
  const below = spans.filter(({ parentSpanId }) => parentSpanId === served?.spanId)
  expect(below.map(({ name, kind, events }) => [name, kind, events.map(event => event.name)])).toEqual([
    ['test.trace_one', CLIENT, []],
    ['transaction', CLIENT, ['test.trace_one', 'test.trace_two']],
    ['GET', CLIENT, []]
  ])
  for (const { traceId, startTimeUnixNano, endTimeUnixNano } of spans) {
    expect(traceId).toBe(PARENT.traceId)
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
    expect(Math.abs(Number(BigInt(startTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  }
  const [sent] = requests
  expect(parseTraceparent(sent?.traceparent)).toEqual({
    traceId: PARENT.traceId,
    spanId: below.at(-1)?.spanId,
    isSampled: true
  })
  expect(JSON.stringify(spans)).not.toContain('secret')
  const [line] = log.filter(({ route }) => route === '/api/x/:id')
  expect(parseTraceparent(line?.trace)?.spanId).toBe(served?.spanId)
})

test('requests that wait for each other have their own spans', async () => {
  const { send, spans } = await useTracedGateway({
    settings: { CARTWRIGHT__SERVER__CONCURRENT_REQUESTS_MAX: '1' }
  })
  const parents = [1, 2, 3, 4].map(digit => ({ ...PARENT, traceId: String(digit).repeat(32) }))
  const statuses = await Promise.all(parents.map(parent => send('POST', '/api/x/7', true, parent)))
  expect(statuses).toEqual([200, 200, 200, 200])
  await eventually(() => expect(spans).toHaveLength(16))
  const traces = Map.groupBy(spans, ({ traceId }) => traceId)
  expect([...traces].map(([id, own]) => [id, own.length]).sort()).toEqual(
    parents.map(({ traceId }) => [traceId, 4])
  )
})

test('a trace that its caller does not record is not recorded, and without a caller the sample decides', async () => {
  const { send, spans, requests, request } = await useTracedGateway()
  expect(await send('POST', '/api/x/7', false)).toBe(200)
  await request('GET', '/api/x/bug')
  expect(requests).toEqual([{ url: '/other?secret=1', traceparent: undefined }])
  expect(await send('GET', '/api/x/bug', true)).toBe(500)
  await eventually(() => expect(spans).toHaveLength(1))
  expect(spans).toMatchObject([{ name: 'GET /api/x/bug', status: { code: 2 } }])
})

test('a job that no recorded trace causes is a trace of its own', async () => {
  const { platform, spans } = await useTracedGateway({
    settings: { CARTWRIGHT__TRACING__SAMPLE_PERCENT: '100' }
  })
  const { outbox, db } = platform
  outbox.attachHandler('test.traced', {
    timeoutSeconds: 10,
    runJob: async () => void (await db.rows(selectOne))
  })
  outbox.start()
  await db.transaction(async tx => outbox.enqueue(tx, tracedJob, {}))
  await eventually(() => expect(spans).toHaveLength(2))
  const [query, run] = spans
  expect(run).toMatchObject({ name: 'test.traced', kind: 5 })
  expect(run).not.toHaveProperty('parentSpanId')
  expect(query).toMatchObject({ name: 'test.trace_one', traceId: run?.traceId, parentSpanId: run?.spanId })
})

test('jobs that share a group commit belong to the traces of their own requests', async () => {
  const { platform, spans } = await useTracedGateway()
  const { db, outbox, tracer } = platform
  outbox.attachHandler('test.traced', { timeoutSeconds: 10, runJob: async () => {} })
  const enqueue = () => db.groupCommit().transaction(async tx => outbox.enqueue(tx, tracedJob, {}))
  const parents = [1, 2].map(digit => ({ traceId: String(digit).repeat(32), spanId: PARENT.spanId }))
  await Promise.all([
    ...parents.map(parent =>
      tracer?.inTrace({ name: 'request', kind: 'server' }, enqueue, { ...parent, isSampled: true })
    ),
    enqueue()
  ])
  outbox.start()
  await eventually(() => expect(spans).toHaveLength(6))
  expect(spans.filter(({ name }) => name === 'test.traced').map(({ traceId }) => traceId)).toEqual(
    parents.map(({ traceId }) => traceId)
  )
})

test('events of several traces that are handled together have a span in each of them, which causes what is emitted about their subject', async () => {
  const { platform, spans } = await useTracedGateway()
  const { db, outbox, tracer } = platform
  outbox.setSubscriptions(new Map([[tracedEvent.name, ['test:handler']]]))
  outbox.attachHandler('test:handler', {
    handleEvents: async (tx, events) => {
      await tx.rows(selectOne)
      for (const { subject } of events) outbox.enqueue(tx, tracedJob, {}, { subject })
    }
  })
  outbox.attachHandler('test.traced', { timeoutSeconds: 10, runJob: async () => {} })
  const parents = [1, 2].map(digit => ({ traceId: String(digit).repeat(32), spanId: PARENT.spanId }))
  for (const parent of parents)
    await tracer?.inTrace(
      { name: 'request', kind: 'server' },
      () => db.transaction(async tx => outbox.emit(tx, tracedEvent, newId(), {})),
      { ...parent, isSampled: true }
    )
  await db.transaction(async tx => outbox.emit(tx, tracedEvent, newId(), {}))
  outbox.start()
  await eventually(() => expect(spans).toHaveLength(8))
  const handled = spans.filter(({ name }) => name === 'test:handler')
  expect(handled.map(({ traceId }) => traceId).sort()).toEqual(parents.map(({ traceId }) => traceId))
  const run = spans.filter(({ name }) => name === tracedJob.name)
  for (const { traceId, spanId } of handled)
    expect(run.filter(each => each.traceId === traceId).map(each => each.parentSpanId)).toEqual([spanId])
  await eventually(async () => expect(await db.rows(selectWaiting)).toEqual([]))
  expect(run).toHaveLength(2)
  expect(handled.flatMap(({ events }) => events)).toHaveLength(1)
})

test('the follow-up of a handler is a span below that of the handler', async () => {
  const { platform, spans } = await useTracedGateway({
    settings: { CARTWRIGHT__TRACING__SAMPLE_PERCENT: '100' }
  })
  const { db, outbox } = platform
  outbox.setSubscriptions(new Map([[tracedEvent.name, ['test:handler']]]))
  outbox.attachHandler('test:handler', {
    handleEvents: async () => async () => void (await db.rows(selectOne))
  })
  outbox.start()
  await db.transaction(async tx => outbox.emit(tx, tracedEvent, newId(), {}))
  await eventually(() => expect(spans).toHaveLength(3))
  const [handled, query, followUp] = spans
  expect([handled?.name, followUp?.name]).toEqual(['test:handler', 'test:handler follow-up'])
  expect(followUp).toMatchObject({ traceId: handled?.traceId, parentSpanId: handled?.spanId })
  expect(query).toMatchObject({ name: 'test.trace_one', parentSpanId: followUp?.spanId })
})

test('a trace is deleted with the events of its week', async () => {
  const { platform } = await useTracedGateway()
  const { db } = platform
  const works: (() => Promise<number>)[] = []
  const timers = {
    untilEmpty: (_seconds: number, _name: string, work: () => Promise<number>) => works.push(work)
  }
  const traceparent = formatTraceparent({ ...PARENT, isSampled: true })
  const traces = createStoredTraces({ db, timers, tracer: { current: () => undefined } })
  const old = lowestIdAt(new Date(Date.now() - 8 * 86_400_000))
  const recent = newId()
  await db.transaction(tx =>
    traces.store(tx, [
      { eventId: old, traceparent },
      { eventId: recent, traceparent }
    ])
  )
  expect(await works[0]?.()).toBe(1)
  expect([...(await traces.find([old, recent])).keys()]).toEqual([recent])
})

test('spans that the collector does not accept are counted and logged once, and requests succeed', async () => {
  const { send, log, request } = await useTracedGateway({ status: 503 })
  expect(await send('POST', '/api/x/7', true)).toBe(200)
  const dropped = async () =>
    /^cartwright_tracing_spans_total\{result="dropped"\} (\d+)$/m.exec(
      (await request('GET', '/metrics')).text
    )?.[1]
  await eventually(async () => expect(await dropped()).toBe('4'))
  expect(await send('GET', '/api/x/bug', true)).toBe(500)
  await eventually(async () => expect(await dropped()).toBe('5'))
  expect(log.filter(({ msg }) => msg === 'traces could not be sent to the collector')).toHaveLength(1)
})

test('without a collector nothing is recorded, and no metric counts spans', async () => {
  const { platform, request } = await useGateway()
  expect(platform.tracer).toBeUndefined()
  expect((await request('GET', '/metrics')).text).not.toContain('tracing')
})
