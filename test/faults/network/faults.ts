import { setTimeout as delay } from 'node:timers/promises'
import type { Direction, Fate } from '../proxied-connection.ts'
import type { TcpProxy } from '../tcp-proxy.ts'
import type { Site } from './site.ts'

export type Fault = {
  name: string
  /** The duration of the fault. Instant faults last for one heartbeat, so that they are detected. */
  seconds: number
  plant(site: Site): Promise<Mend>
  /** Whether the shop may reject requests. */
  mayRefuse: boolean
  /** The processes that are frozen themselves. */
  isFrozen(process: number): boolean
  /** The number of processes that the fault needs. */
  processesMin: number
}
type Mend = () => Promise<unknown>

const AGAIN_EVERY_MS = 400
const COMMON = { mayRefuse: true, isFrozen: () => false, processesMin: 1 }

type Kind = 'database' | 'cache'

/** What a proxy does, between all processes and the database or the cache. */
const network = (name: string, seconds: number, act: (proxy: TcpProxy) => unknown): Fault[] => [
  { ...COMMON, name: `database: ${name}`, seconds, plant: plantAt('database', act) },
  { ...COMMON, name: `cache: ${name}`, seconds, plant: plantAt('cache', act), mayRefuse: false }
]

/** The same for the first process only: the others take over. */
const ofOneProcess = (name: string, seconds: number, act: (proxy: TcpProxy) => unknown): Fault => ({
  ...COMMON,
  name: `database of one process: ${name}`,
  seconds,
  plant: plantAt('database', act, 1),
  processesMin: 2
})

function plantAt(kind: Kind, act: (proxy: TcpProxy) => unknown, count?: number): Fault['plant'] {
  return async ({ processes }) => {
    const proxies = processes.slice(0, count).map(process => process[kind])
    for (const proxy of proxies) await act(proxy)
    return () => Promise.all(proxies.map(proxy => proxy.restore()))
  }
}

/** The same fault, repeatedly. */
const repeatedly = (name: string, act: (proxy: TcpProxy) => unknown): Fault[] =>
  network(`${name}, again and again`, 3, act).map(fault => ({ ...fault, plant: repeat(fault.plant) }))

function repeat(plant: Fault['plant']): Fault['plant'] {
  return async site => {
    let mend = await plant(site)
    const timer = setInterval(async () => {
      mend = await plant(site)
    }, AGAIN_EVERY_MS)
    return () => {
      clearInterval(timer)
      return mend()
    }
  }
}

const blackHoles = (name: string, direction?: Direction): Fault[] => [
  ...network(`black hole ${name}`, 4, proxy => proxy.hang(direction)),
  ...network(`black hole ${name}, connections lost`, 4, proxy => {
    proxy.strand(direction)
    proxy.hang(direction)
  }),
  ...network(`connections lost ${name}, new ones work`, 1, proxy => proxy.strand(direction))
]

const late = (seconds: number, lasts: number) =>
  network(`answers ${seconds} s late`, lasts, proxy => proxy.slow('to_program', seconds * 1_000))

const commit = (name: string, direction: Direction, fate: Fate, oneOf: number): Fault => ({
  ...COMMON,
  name: `database: ${name}`,
  seconds: 3,
  plant: async ({ processes }) => {
    for (const { commits } of processes) commits.breakAt(direction, fate, oneOf)
    // A lost connection gets an answer again: a host on the way resets it in the name of the server, which is gone.
    return async () => {
      for (const { commits, database } of processes) {
        commits.restore()
        database.sweep()
      }
    }
  }
})

const BACKENDS = `select pid from pg_stat_activity where application_name = 'cartwright' and datname = current_database() order by random()`

/** Processes of PostgreSQL receive a signal, and when it is mended another one. */
const signalled = (
  name: string,
  seconds: number,
  chosen: (site: Site) => Promise<number[]>,
  [planted, mended]: [NodeJS.Signals, NodeJS.Signals?]
): Fault => ({
  ...COMMON,
  name: `database: ${name}`,
  seconds,
  plant: async site => {
    const pids = await chosen(site)
    for (const pid of pids) signalQuietly(pid, planted)
    return async () => {
      if (mended !== undefined) for (const pid of pids) signalQuietly(pid, mended)
      await site.databaseAnswers()
    }
  }
})

const backends = async ({ sql }: Site) => (await sql(BACKENDS)).map(({ pid }) => Number(pid))
const oneBackend = async (site: Site) => (await backends(site)).slice(0, 1)
const postmaster = async ({ postmaster: find }: Site) => (find === undefined ? [] : [await find()])
const everything = async (site: Site) => [...(await backends(site)), ...(await postmaster(site))]

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself in between.
  }
}

/** Processes of the shop are frozen. */
const frozen = (name: string, seconds: number, processesMin: number, isFrozen: Fault['isFrozen']): Fault => ({
  ...COMMON,
  name: `shop: ${name}`,
  seconds,
  processesMin,
  isFrozen,
  plant: async ({ processes }) => {
    const chosen = processes.filter((_process, at) => isFrozen(at))
    for (const process of chosen) process.signal('SIGSTOP')
    return async () => {
      for (const process of chosen) process.signal('SIGCONT')
    }
  }
})

const terminated = async ({ sql }: Site) => {
  await sql(BACKENDS.replace('select pid', 'select pg_terminate_backend(pid)'))
  return async () => {}
}

/** Another session holds a lock. */
const locked = (name: string, table: string): Fault => ({
  ...COMMON,
  name: `database: ${name}`,
  seconds: 3,
  plant: async ({ sql }) => {
    const text = `begin; lock table ${table} in access exclusive mode; select pg_sleep(3); commit`
    const holding = sql(text)
    await delay(1)
    return () => holding
  }
})

export const faults: readonly Fault[] = [
  ...repeatedly('connections reset', proxy => proxy.reset()),
  ...network('stopped, connections refused', 3, proxy => proxy.cut()),
  ...network('new connections hang', 3, proxy => {
    proxy.reset()
    proxy.hangNew()
  }),
  ...repeatedly('half closed towards the server', proxy => proxy.halfClose('to_server')),
  ...repeatedly('half closed towards the program', proxy => proxy.halfClose('to_program')),
  ...late(0.2, 4),
  ...late(1.6, 12),
  ...late(5, 8),
  ...blackHoles('both ways'),
  ...blackHoles('to the server', 'to_server'),
  ...blackHoles('to the program', 'to_program'),
  ofOneProcess('stopped, connections refused', 3, proxy => proxy.cut()),
  ofOneProcess('black hole both ways', 6, proxy => proxy.hang()),
  ofOneProcess('connections lost both ways, new ones work', 1, proxy => proxy.strand()),
  commit('connection reset before COMMIT', 'to_server', 'reset', 2),
  commit('connection reset behind COMMIT', 'to_program', 'reset', 2),
  commit('connection lost before COMMIT', 'to_server', 'lose', 10),
  commit('connection lost behind COMMIT', 'to_program', 'lose', 10),
  {
    ...COMMON,
    name: 'database: backends terminated, again and again',
    seconds: 3,
    plant: repeat(terminated)
  },
  signalled('one backend killed', 1, oneBackend, ['SIGKILL']),
  signalled('killed', 1, postmaster, ['SIGKILL']),
  signalled('restarted', 1, postmaster, ['SIGINT']),
  signalled('one backend frozen', 4, oneBackend, ['SIGSTOP', 'SIGCONT']),
  signalled('backends frozen', 4, backends, ['SIGSTOP', 'SIGCONT']),
  signalled('everything frozen', 4, everything, ['SIGSTOP', 'SIGCONT']),
  locked('table of carts locked', 'cart.carts'),
  locked('table of idempotency keys locked', 'cartwright.idempotency_keys'),
  locked('table of products locked', 'catalog.products'),
  frozen('frozen for 3 s', 3, 1, () => true),
  frozen('frozen for 11 s', 11, 1, () => true),
  frozen('one process frozen for 5 s', 5, 2, process => process === 0),
  {
    ...COMMON,
    name: 'cache: frozen',
    seconds: 4,
    mayRefuse: false,
    plant: async ({ redis }) => {
      redis.signal('SIGSTOP')
      return async () => redis.signal('SIGCONT')
    }
  },
  {
    ...COMMON,
    name: 'cache: killed',
    seconds: 3,
    mayRefuse: false,
    plant: async ({ redis }) => {
      await redis.kill()
      return () => redis.start()
    }
  }
]
