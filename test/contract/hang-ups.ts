import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../faults/until.ts'
import { optionsOf, type ReadyOperation, targetOf } from './requests.ts'
import type { ContractShop } from './world.ts'

const HANG_UP_MS_MAX = 20

/** Sends the request `times` times, each over a separate socket. The client hangs up after 0 to 20 ms. */
export async function replayAndHangUp(origin: string, route: ReadyOperation, times: number): Promise<void> {
  const send = async (time: number) => {
    const hangUp = startRequest(origin, route)
    // Most clients hang up early, while a response is being sent.
    await delay(HANG_UP_MS_MAX * (time / times) ** 2)
    hangUp()
  }
  await Promise.all(Array.from({ length: times }, (_, time) => send(time)))
}

/** Sends the request over a socket of its own; the returned function closes the socket. */
function startRequest(origin: string, route: ReadyOperation): () => void {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  // A client that has hung up gets a reset.
  socket.on('error', () => {})
  socket.on('data', () => {})
  socket.write(bytesOf(route))
  return () => socket.destroy()
}

/**
 * Hangs up while a response waits for its audit entry. The audit table is locked meanwhile, so that the client
 * disconnects before the response is sent.
 */
export async function hangUpInsideReplay(
  world: ContractShop,
  origin: string,
  route: ReadyOperation
): Promise<void> {
  await until('earlier clients have disconnected', async () => (await connections(world)) === 0)
  const holder = new pg.Client({ connectionString: world.databaseUrl })
  await holder.connect()
  await holder.query('begin')
  await holder.query('lock table cartwright.audit in share mode')
  const hangUp = startRequest(origin, route)
  await until(`${route.name} waits for its audit entry`, async () => (await waiting(world)) > 0)
  hangUp()
  await until(
    `${route.name} has detected that its client disconnected`,
    async () => (await connections(world)) === 0
  )
  await holder.query('rollback')
  await holder.end()
}

const waiting = async ({ sql }: ContractShop): Promise<number> => {
  const locks = `select count(*)::int as waiting from pg_locks
    where not granted and relation = 'cartwright.audit'::regclass`
  return Number((await sql(locks))[0]?.waiting)
}

const connections = ({ app }: ContractShop): Promise<number> =>
  new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })

function bytesOf(route: ReadyOperation): Buffer {
  const { token, headers = {}, body } = optionsOf(route.request)
  const isText = typeof body === 'string' || Buffer.isBuffer(body)
  const content = Buffer.from(body === undefined ? '' : isText ? (body as string) : JSON.stringify(body))
  const lines = {
    host: 'localhost',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': content.length }),
    ...headers
  }
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  const start = `${route.method} ${targetOf(route, route.request)} HTTP/1.1\r\n`
  return Buffer.concat([Buffer.from(`${start}${head.join('')}\r\n`), content])
}

/**
 * Waits for the consequences of earlier requests, and postpones recurring jobs and retries, because they change rows, too: one
 * polls open payments every few seconds.
 */
export async function postponeJobs({ sql }: ContractShop): Promise<void> {
  // Fixtures insert failed jobs of handlers that no module has. A recurring job (id 0) without work stays due.
  const due = `select from cartwright.jobs
    where (id > 0 and due_at <= now() or lease is not null) and handler not like 'contract:%'`
  await until('all due jobs and events are handled', async () => (await sql(due)).length === 0)
  await sql(`update cartwright.jobs set due_at = 'infinity' where lease is null`)
}

/** Everything that a request can change: rows, messages, webhooks and money at the provider. */
export async function effectsOf({ stored, sql, sandbox }: ContractShop): Promise<Record<string, unknown>> {
  await until(
    'no statement or job is running, and no stock request is open',
    async () => (await sql(UNDER_WAY)).length === 0
  )
  const tables = await stored()
  const [sent] = await sql(
    `select (select count(*) from notifications.messages) as messages,
       (select count(*) from webhooks.deliveries) as deliveries,
       (select count(*) from webhooks.endpoints) as endpoints`
  )
  // Each request of an administrator writes an audit entry.
  const { 'cartwright.audit': _, ...others } = tables
  return { ...others, ...sent, provider: JSON.stringify(await sandbox.objects()) }
}

/** Running transactions and jobs, and open stock requests. */
const UNDER_WAY = `
  select pid::text as what from pg_stat_activity
  where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
  union all
  select handler from cartwright.jobs where lease is not null
  union all
  select kind from inventory.requests where done_at is null`
