import { expect, onTestFinished, test, vi } from 'vitest'
import { moduleOf, useGateway } from '../../test/support/gateway.ts'
import { shareShops } from '../../test/support/shared-shops.ts'
import { defineError } from '../kernel/errors.ts'
import type { BroadcastWatcher } from '../platform/broadcast.ts'
import { databaseBusyError, databaseUnavailableError } from '../platform/postgres/errors.ts'
import { allowSharedCaching, keepResponseWhile } from './kept-responses.ts'

shareShops()

const config = { class: 'browse', cache: 'public' } as const
const LONG = 'x'.repeat(3_000)
const goneError = defineError('not_found', 'TEST_GONE', 'It is gone.')

type Read = [headers?: Record<string, string>, more?: { method?: string; url?: string }]

/**
 * A gateway whose database is in the hands of the test. `/api/x` has a page for each query, and `/api/lists` a first page
 * of a list for each.
 */
async function useOutages() {
  const watchers: BroadcastWatcher[] = []
  const state = { isLive: true, isSilent: false, version: 1, text: LONG, handled: 0 }
  let error: Error | undefined
  const answer = async () => {
    if (state.isSilent) await new Promise(() => {})
    if (error !== undefined) throw error
  }
  const routes = moduleOf('x', ['/api/x', '/api/lists'], ({ public: open }) => {
    for (const url of ['/x', '/lists'])
      open.get(url, { config }, async (request, reply) => {
        state.handled += 1
        await answer()
        const { version } = state
        const isCurrent = () => state.isLive && state.version === version
        keepResponseWhile(request, isCurrent, { isFirstPage: url === '/lists' })
        const text = JSON.stringify({ version, shop: request.headers['x-shop'], text: state.text })
        allowSharedCaching(reply, { seconds: 60, changesInMs: Infinity, keys: ['x'] })
        return reply.header('content-type', 'application/json; charset=utf-8').send(text)
      })
  })
  const gateway = await useGateway({
    modules: [{ ...routes, varyHeaders: ['x-shop'] }],
    platform: {
      broadcast: {
        watch: (watcher: BroadcastWatcher) => watchers.push(watcher),
        isLive: () => state.isLive
      } as never
    }
  })
  const ping = vi.spyOn(gateway.platform.db, 'ping').mockImplementation(answer)
  const clock = { ms: 0 }
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + clock.ms)
  onTestFinished(() => spy.mockRestore())
  const read = async (...[headers = {}, { method = 'GET', url = '/api/x' } = {}]: Read) => {
    const { statusCode, body, ...answer } = await gateway.app.inject({
      method: method as 'GET',
      url,
      headers: { host: 'localhost', ...headers }
    })
    return { status: statusCode, body, headers: answer.headers, version: /"version":(\d+)/.exec(body)?.[1] }
  }
  const list = (query = '') => read({}, { url: `/api/lists${query}` })
  const gap = (isLive: boolean) => {
    if (!isLive) for (const { onLoss } of watchers) onLoss()
    state.isLive = isLive
    if (isLive) for (const { onReturn } of watchers) onReturn()
  }
  return {
    state,
    clock,
    ping,
    log: gateway.log,
    read,
    list,
    fail: (failure?: Error) => {
      error = failure
    },
    lose: () => {
      error = databaseUnavailableError({ retryAfterSeconds: 1 })
      gap(false)
    },
    /** As a frozen server, which neither answers nor refuses. */
    freeze: () => {
      state.isSilent = true
      gap(false)
    },
    restore: () => {
      error = undefined
      gap(true)
    }
  }
}

const STALE = { warning: '110 - "Response is Stale"' }

test('while the database is away, the last response is sent with its age, and no handler runs after the first', async () => {
  const { state, clock, read, lose } = await useOutages()
  const fresh = await read()
  expect(fresh.headers['cache-control']).toContain('s-maxage=60')
  expect([fresh.headers.age, fresh.headers.warning]).toEqual([undefined, undefined])
  lose()
  clock.ms += 17_000
  const first = await read()
  expect([first.status, first.body, state.handled]).toEqual([200, fresh.body, 2])
  // A shared cache validates a stale response on each use.
  const cacheControl = 'public, max-age=0, stale-if-error=300'
  const headers = { ...STALE, age: '17', etag: fresh.headers.etag, 'cache-control': cacheControl }
  expect(first.headers).toMatchObject(headers)
  clock.ms += 100
  for (let times = 0; times < 50; times += 1) expect((await read()).headers).toMatchObject(STALE)
  expect(state.handled).toBe(2)
})

test('a stale response answers HEAD, If-None-Match and gzip as a fresh one does', async () => {
  const { state, read, lose } = await useOutages()
  state.text = 'é'.repeat(3_000)
  await read({ 'accept-encoding': 'gzip' })
  const fresh = await read()
  lose()
  for (const state of ['first', 'later']) {
    const head = await read({}, { method: 'HEAD' })
    expect([head.status, head.body], state).toEqual([200, ''])
    expect(head.headers).toMatchObject({ ...STALE, 'content-length': fresh.headers['content-length'] })
    const matched = await read({ 'if-none-match': String(fresh.headers.etag) })
    expect([matched.status, matched.body]).toEqual([304, ''])
    expect(matched.headers).toMatchObject({ ...STALE, age: '0', etag: fresh.headers.etag })
    expect(matched.headers).not.toHaveProperty('content-type')
    expect((await read({ 'if-none-match': '"other"' })).body).toBe(fresh.body)
    const compressed = await read({ 'accept-encoding': 'gzip' })
    expect(compressed.headers).toMatchObject({ ...STALE, 'content-encoding': 'gzip' })
  }
})

test('a stale response of another target or variant is never sent', async () => {
  const { read, lose } = await useOutages()
  await read({ 'x-shop': 'a' })
  await read({ 'x-shop': 'a' }, { url: '/api/x?page=1' })
  lose()
  expect((await read({ 'x-shop': 'a' })).body).toContain('"shop":"a"')
  for (const [headers, url] of [
    [{}, '/api/x'],
    [{ 'x-shop': '' }, '/api/x'],
    [{ 'x-shop': 'b' }, '/api/x'],
    [{ 'x-shop': 'b' }, '/api/x?page=1'],
    [{ 'x-shop': 'a' }, '/api/x?page=2'],
    [{ 'x-shop': 'a\n' }, '/api/x']
  ] as const)
    expect((await read(headers, { url })).status, `${JSON.stringify(headers)} ${url}`).toBe(503)
})

test('the age of a response that was current until contact was lost counts from the loss', async () => {
  const { state, clock, read, lose } = await useOutages()
  await read()
  clock.ms += 260_000
  lose()
  state.version = 2
  clock.ms += 10_000
  expect((await read()).headers.age).toBe('10')
})

test('the age of a response that had changed before contact was lost counts from when it was last sent as current', async () => {
  const { state, clock, read, lose } = await useOutages()
  await read()
  clock.ms += 30_000
  await read()
  state.version = 2
  clock.ms += 60_000
  lose()
  clock.ms += 10_000
  expect((await read()).headers.age).toBe('70')
})

test('a response is stale for five minutes at most, and the first page of a list for as long as contact is recent', async () => {
  const { state, clock, read, list, lose } = await useOutages()
  for (const each of [read, list]) await each()
  state.version = 2
  clock.ms += 290_000
  lose()
  clock.ms += 9_000
  expect([(await read()).status, (await list()).status]).toEqual([200, 200])
  clock.ms += 2_000
  expect([(await read()).status, (await list()).status]).toEqual([503, 200])
  clock.ms += 288_000
  expect((await list()).headers).toMatchObject({ ...STALE, age: '589' })
  clock.ms += 2_000
  expect((await list()).status).toBe(503)
})

test('the first page of a list is not sent when it was current more than an hour ago', async () => {
  const { state, clock, list, lose } = await useOutages()
  await list()
  state.version = 2
  clock.ms += 3_601_000
  lose()
  expect((await list()).status).toBe(503)
})

test('fresh responses are sent at once when contact returns, and when a ping succeeds without it', async () => {
  const { state, clock, read, lose, fail, restore } = await useOutages()
  await read()
  lose()
  await read()
  state.version = 2
  expect((await read()).version).toBe('1')
  restore()
  const fresh = await read()
  expect([fresh.version, fresh.headers.warning]).toEqual(['2', undefined])

  lose()
  await read()
  state.version = 3
  fail(undefined)
  clock.ms += 600
  await expect.poll(async () => (await read()).version).toBe('3')
})

test('while the database is away it is pinged at most twice a second, whatever is requested', async () => {
  const { clock, ping, read, lose } = await useOutages()
  await read()
  lose()
  for (let times = 0; times < 100; times += 1) {
    await read()
    clock.ms += 20
  }
  expect(ping.mock.calls.length).toBeGreaterThan(1)
  // Two seconds, the loss, and the time of the test itself.
  expect(ping.mock.calls.length).toBeLessThan(10)
})

test('a request that waits for a silent database gets the stale response by its deadline, later ones at once', async () => {
  const { state, clock, read, freeze } = await useOutages()
  await read()
  freeze()
  const waiting = read()
  await expect.poll(() => state.handled).toBe(2)
  await expect.poll(async () => (await read()).headers).toMatchObject(STALE)
  const { handled } = state
  for (let times = 0; times < 20; times += 1) expect((await read()).headers).toMatchObject(STALE)
  expect(state.handled).toBe(handled)
  clock.ms += 2_000
  expect((await waiting).headers).toMatchObject(STALE)
})

test('the loss of messages alone makes no response stale', async () => {
  const { state, read, freeze } = await useOutages()
  await read()
  freeze()
  state.isSilent = false
  state.version = 2
  const fresh = await read()
  expect([fresh.version, fresh.headers.warning]).toEqual(['2', undefined])
})

test('a busy database is asked by each request, and its last response is sent', async () => {
  const { state, read, fail } = await useOutages()
  await read()
  state.version = 2
  fail(databaseBusyError())
  for (const handled of [2, 3]) {
    expect((await read()).headers).toMatchObject(STALE)
    expect(state.handled).toBe(handled)
  }
})

test('a response that its handler has rejected since is not sent', async () => {
  const { state, read, lose, fail } = await useOutages()
  await read()
  state.version = 2
  fail(goneError())
  expect((await read()).status).toBe(404)
  lose()
  expect((await read()).status).toBe(503)
})

test('an error that is not of the database is sent as it is', async () => {
  const { state, read, log, fail } = await useOutages()
  await read()
  state.version = 2
  fail(new Error('a bug'))
  expect((await read()).status).toBe(500)
  expect(log.some(({ msg }) => msg === 'the database is away; a stale response was sent')).toBe(false)
})

test('thousands of pages do not evict the first pages of lists, and of lists only the latest are kept', async () => {
  const { state, read, list, lose } = await useOutages()
  state.text = 'x'.repeat(250_000)
  await list()
  for (let page = 0; page < 100; page += 1) await read({}, { url: `/api/x?page=${page}` })
  const before = state.handled
  lose()
  expect((await list()).status).toBe(200)
  const kept = await Promise.all(
    Array.from({ length: 100 }, (_, page) => read({}, { url: `/api/x?page=${page}` }))
  )
  expect(kept[99]?.status).toBe(200)
  expect(kept.filter(({ status }) => status === 200).length).toBeLessThan(25)
  expect(state.handled).toBeGreaterThan(before)
})

test('a thousand lists do not fill the memory', async () => {
  const { state, list, lose } = await useOutages()
  state.text = 'x'.repeat(25_000)
  for (let each = 0; each < 1_000; each += 1) await list(`?tag=${each}`)
  lose()
  let kept = 0
  for (let each = 0; each < 1_000; each += 1) if ((await list(`?tag=${each}`)).status === 200) kept += 1
  expect(kept).toBeGreaterThan(10)
  expect(kept).toBeLessThan(200)
})
