import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { freePort } from '../support/free-port.ts'
import { type Program, startProgram } from '../support/program.ts'
import { until } from './until.ts'

const PRELOADED = new URL('main-thread.mjs', import.meta.url).href
const PROBES = 200
/** On a machine that has much to do. By itself the slowest of 200 takes 5 ms. */
const SOON_MS = 250

type Probed = { status: number; text: string; json: Record<string, unknown>; elapsed: number }

/** The real program, whose main thread stands still for so long after SIGUSR2. */
async function useShop(settings: Record<string, string> = {}) {
  const created = await createTestDatabase()
  const port = await freePort()
  const program: Program = startProgram({
    DATABASE_URL: created.url,
    CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port),
    CARTWRIGHT__LOG__LEVEL: 'info',
    NODE_OPTIONS: `--import ${PRELOADED}`,
    ...settings
  })
  onTestFinished(async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await created.drop()
  })
  const address = await program.listening
  return { program, address, probe: (path: string) => probe(`http://127.0.0.1:${port}${path}`) }
}

/** Sends a request on a new connection. */
async function probe(url: string): Promise<Probed> {
  const startedAt = performance.now()
  const request = get(url, { agent: false })
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  const elapsed = performance.now() - startedAt
  const isJson = response.headers['content-type']?.startsWith('application/json')
  return { status: response.statusCode, text, json: isJson ? JSON.parse(text) : {}, elapsed }
}

test('the diagnostics port responds and reports "blocked" while the main thread is blocked', async () => {
  const { program, address, probe: ask } = await useShop({ BLOCK_MS: '5000' })
  await until(
    'the main thread is reported as running',
    async () => (await ask('/healthz')).json.main === 'running'
  )
  await until('metrics are available', async () => (await ask('/metricsz')).status === 200)
  program.child.kill('SIGUSR2')
  await until(
    'the main thread is reported as blocked',
    async () => (await ask('/healthz')).json.main === 'blocked'
  )

  let mainAnswered = false
  const onMain = probe(`${address}/healthz`).then(() => {
    mainAnswered = true
  })
  const elapsed: number[] = []
  for (let count = 0; count < PROBES; count += 1) {
    const answer = await ask('/healthz')
    expect(answer).toMatchObject({ status: 200, json: { status: 'UP' } })
    elapsed.push(answer.elapsed)
  }
  const p99 = elapsed.sort((a, b) => a - b)[Math.floor(PROBES * 0.99)] as number
  expect(p99).toBeLessThan(SOON_MS)
  expect(await ask('/readyz')).toMatchObject({
    status: 200,
    json: { status: 'READY', database: 'UP', cache: 'UP', writes: 'UP' }
  })
  expect((await ask('/metrics')).text).toContain('http_request_duration_seconds')
  const figuresAge = async () =>
    Number(/snapshot_age_seconds ([\d.]+)\n$/.exec((await ask('/metrics')).text)?.[1])
  await until('the metrics are older than a second', async () => (await figuresAge()) > 1)
  expect((await ask('/metricsz')).json).toMatchObject({ db_pool: { max_conns: expect.any(Number) } })
  expect(mainAnswered).toBe(false)

  await onMain
  await until(
    'the main thread is reported as running again',
    async () => (await ask('/healthz')).json.main === 'running'
  )
  expect((await ask('/nothing')).status).toBe(404)
})

test('/healthz returns 503 when the main thread is blocked beyond the liveness limit', async () => {
  const { program, probe: ask } = await useShop({
    BLOCK_MS: '6000',
    CARTWRIGHT__SERVER__LIVENESS_SECONDS: '2'
  })
  program.child.kill('SIGUSR2')
  await until('the process is reported as dead', async () => (await ask('/healthz')).status === 503)
  expect((await ask('/healthz')).json).toMatchObject({ status: 'DOWN', main: 'blocked' })
  expect(await ask('/readyz')).toMatchObject({ status: 503, json: { status: 'NOT_READY', database: 'UP' } })
  await until('the process is reported as alive', async () => (await ask('/healthz')).status === 200)
})

test('a draining process is reported as not ready, and its diagnostics thread does not delay its exit', async () => {
  const { program, probe: ask } = await useShop({ CARTWRIGHT__SERVER__DRAIN_SECONDS: '1' })
  program.child.kill('SIGTERM')
  await until('the process is not ready', async () => (await ask('/readyz')).status === 503)
  expect((await ask('/healthz')).status).toBe(200)
  expect((await program.ended).code).toBe(0)
})

test('a diagnostics thread that ends is restarted while the shop keeps serving', async () => {
  const { program, address, probe: ask } = await useShop({ END_THREAD_AFTER_MS: '500' })
  await until(
    'the diagnostics thread has ended',
    () =>
      ask('/healthz').then(
        () => false,
        () => true
      ),
    5_000
  )
  expect((await probe(`${address}/healthz`)).status).toBe(200)
  await until('the diagnostics thread responds again', async () => (await ask('/healthz')).status === 200)
  await until('the error of the thread is logged', () =>
    program.output.stdout.includes('the thread has a bug')
  )
})

test('a diagnostics port that is in use is reported in one sentence', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => {
    taken.close()
  })
  const { port } = taken.address() as AddressInfo
  const starting = useShop({ CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port) })
  await expect(starting).rejects.toThrow(/Cannot listen on \S+ for diagnostics: .*server\.diagnostics_port/)
})
