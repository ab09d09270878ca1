import { setTimeout as delay } from 'node:timers/promises'
import type { ChunkOutcome, Direction } from '../proxied-connection.ts'
import type { TcpProxy } from '../tcp-proxy.ts'
import type { ShopUnderFaults } from './shop-under-faults.ts'

export type Fault = {
  name: string
  /** The duration of the fault. Instant faults last for one heartbeat, so that they are detected. */
  seconds: number
  plant(site: ShopUnderFaults): Promise<RemoveFault>
  /** Whether the shop may reject requests. */
  mayRefuse: boolean
  /** Whether the fault freezes this process. */
  isFrozen(process: number): boolean
  /** The number of processes that the fault needs. */
  processesMin: number
}
type RemoveFault = () => Promise<unknown>

const REPEAT_EVERY_MS = 400
const COMMON = { mayRefuse: true, isFrozen: () => false, processesMin: 1 }

type Kind = 'database' | 'cache'

/** The same action of a proxy, once before the database and once before the cache of all processes. */
const proxyFaults = (name: string, seconds: number, act: (proxy: TcpProxy) => unknown): Fault[] => [
  { ...COMMON, name: `database: ${name}`, seconds, plant: plantAt('database', act) },
  { ...COMMON, name: `cache: ${name}`, seconds, plant: plantAt('cache', act), mayRefuse: false }
]

/** The fault affects the first process only, and the others take over. */
const oneProcessFault = (name: string, seconds: number, act: (proxy: TcpProxy) => unknown): Fault => ({
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

/** The fault is planted again every 400 ms. */
const repeatedFaults = (name: string, act: (proxy: TcpProxy) => unknown): Fault[] =>
  proxyFaults(`${name}, again and again`, 3, act).map(fault => ({
    ...fault,
    plant: plantRepeatedly(fault.plant)
  }))

function plantRepeatedly(plant: Fault['plant']): Fault['plant'] {
  return async site => {
    let removeFault = await plant(site)
    const timer = setInterval(async () => {
      removeFault = await plant(site)
    }, REPEAT_EVERY_MS)
    return () => {
      clearInterval(timer)
      return removeFault()
    }
  }
}

const blackHoles = (name: string, direction?: Direction): Fault[] => [
  ...proxyFaults(`black hole ${name}`, 4, proxy => proxy.hang(direction)),
  ...proxyFaults(`black hole ${name}, connections lost`, 4, proxy => {
    proxy.strand(direction)
    proxy.hang(direction)
  }),
  ...proxyFaults(`connections lost ${name}, new ones work`, 1, proxy => proxy.strand(direction))
]

const slowFaults = (seconds: number, durationSeconds: number) =>
  proxyFaults(`answers ${seconds} s late`, durationSeconds, proxy =>
    proxy.slow('to_program', seconds * 1_000)
  )

const commitFault = (name: string, direction: Direction, fate: ChunkOutcome, oneOf: number): Fault => ({
  ...COMMON,
  name: `database: ${name}`,
  seconds: 3,
  plant: async ({ processes }) => {
    for (const { commits } of processes) commits.breakAt(direction, fate, oneOf)
    // A router resets a lost connection in the name of the absent server.
    return async () => {
      for (const { commits, database } of processes) {
        commits.restore()
        database.sweep()
      }
    }
  }
})

const BACKENDS = `select pid from pg_stat_activity where application_name = 'cartwright' and datname = current_database() order by random()`

/** Sends one signal to processes of PostgreSQL, and another one when the fault is removed. */
const signalFault = (
  name: string,
  seconds: number,
  chosen: (site: ShopUnderFaults) => Promise<number[]>,
  [planted, removed]: [NodeJS.Signals, NodeJS.Signals?]
): Fault => ({
  ...COMMON,
  name: `database: ${name}`,
  seconds,
  plant: async site => {
    const pids = await chosen(site)
    for (const pid of pids) signalQuietly(pid, planted)
    return async () => {
      if (removed !== undefined) for (const pid of pids) signalQuietly(pid, removed)
      await site.databaseAnswers()
    }
  }
})

const backends = async ({ sql }: ShopUnderFaults) => (await sql(BACKENDS)).map(({ pid }) => Number(pid))
const oneBackend = async (site: ShopUnderFaults) => (await backends(site)).slice(0, 1)
const postmaster = async ({ postmaster: find }: ShopUnderFaults) => (find === undefined ? [] : [await find()])
const allPostgresProcesses = async (site: ShopUnderFaults) => [
  ...(await backends(site)),
  ...(await postmaster(site))
]

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended in the meantime.
  }
}

/** Processes of the shop are frozen. */
const freezeFault = (
  name: string,
  seconds: number,
  processesMin: number,
  isFrozen: Fault['isFrozen']
): Fault => ({
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

const terminateBackends = async ({ sql }: ShopUnderFaults) => {
  await sql(BACKENDS.replace('select pid', 'select pg_terminate_backend(pid)'))
  return async () => {}
}

/** Another session holds a lock. */
const lockFault = (name: string, table: string): Fault => ({
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
  ...repeatedFaults('connections reset', proxy => proxy.reset()),
  ...proxyFaults('stopped, connections refused', 3, proxy => proxy.cut()),
  ...proxyFaults('new connections hang', 3, proxy => {
    proxy.reset()
    proxy.hangNew()
  }),
  ...repeatedFaults('half closed towards the server', proxy => proxy.halfClose('to_server')),
  ...repeatedFaults('half closed towards the program', proxy => proxy.halfClose('to_program')),
  ...slowFaults(0.2, 4),
  ...slowFaults(1.6, 12),
  ...slowFaults(5, 8),
  ...blackHoles('both ways'),
  ...blackHoles('to the server', 'to_server'),
  ...blackHoles('to the program', 'to_program'),
  oneProcessFault('stopped, connections refused', 3, proxy => proxy.cut()),
  oneProcessFault('black hole both ways', 6, proxy => proxy.hang()),
  oneProcessFault('connections lost both ways, new ones work', 1, proxy => proxy.strand()),
  commitFault('connection reset before COMMIT', 'to_server', 'reset', 2),
  commitFault('connection reset behind COMMIT', 'to_program', 'reset', 2),
  commitFault('connection lost before COMMIT', 'to_server', 'lose', 10),
  commitFault('connection lost behind COMMIT', 'to_program', 'lose', 10),
  {
    ...COMMON,
    name: 'database: backends terminated, again and again',
    seconds: 3,
    plant: plantRepeatedly(terminateBackends)
  },
  signalFault('one backend killed', 1, oneBackend, ['SIGKILL']),
  signalFault('killed', 1, postmaster, ['SIGKILL']),
  signalFault('restarted', 1, postmaster, ['SIGINT']),
  signalFault('one backend frozen', 4, oneBackend, ['SIGSTOP', 'SIGCONT']),
  signalFault('backends frozen', 4, backends, ['SIGSTOP', 'SIGCONT']),
  signalFault('everything frozen', 4, allPostgresProcesses, ['SIGSTOP', 'SIGCONT']),
  lockFault('table of carts locked', 'cart.carts'),
  lockFault('table of idempotency keys locked', 'cartwright.idempotency_keys'),
  lockFault('table of products locked', 'catalog.products'),
  freezeFault('frozen for 3 s', 3, 1, () => true),
  freezeFault('frozen for 11 s', 11, 1, () => true),
  freezeFault('one process frozen for 5 s', 5, 2, process => process === 0),
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
