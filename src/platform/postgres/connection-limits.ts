import { statement } from './statement.ts'

/** Connections of health checks: a ping and a test write for `/readyz`. */
const PROBES = 2
/** Dedicated connections: the writer of stock, the claims of events and jobs, and the renewal of their leases. */
const DEDICATED = 3
/** Connections outside the pools: one for LISTEN, and one that dead peer detection opens. */
const LISTENERS = 2
/** Size of the pool for transactions that waited for a lock: a quarter of the others. */
export const lockRetryPoolSize = (poolSize: number): number => Math.ceil(poolSize / 4)

type Sizes = {
  poolSize: number
  sharedConnections: number
  writeConnections: number
  slowConnections: number
  /** Where slow reads may go: as many connections more, to another server. */
  replica?: object | undefined
}

/** Most connections that one process opens, to the primary and the replica. */
export const processConnectionsMax = (sizes: Sizes, hasDiagnosticsPort: boolean): number =>
  primaryConnectionsMax(sizes, hasDiagnosticsPort) + (sizes.replica === undefined ? 0 : sizes.slowConnections)

/** Most connections that one process opens to the primary. */
export function primaryConnectionsMax(sizes: Sizes, hasDiagnosticsPort: boolean): number {
  const { poolSize, sharedConnections, writeConnections, slowConnections } = sizes
  const forWork =
    poolSize + lockRetryPoolSize(poolSize) + sharedConnections + writeConnections + slowConnections
  return forWork + PROBES + DEDICATED + LISTENERS + (hasDiagnosticsPort ? PROBES : 0)
}

/** Connection limits of the server without its reserved ones, of this role and of this database; -1: unlimited. */
export const findConnectionLimits = statement({
  name: 'cartwright.find_connection_limits',
  gives: { server: 'int4', role: 'int4', database: 'int4' },
  text: `
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int as server,
      (select rolconnlimit from pg_roles where rolname = current_user) as role,
      (select datconnlimit from pg_database where datname = current_database()) as database`
})
export type PostgresServerConnectionLimits = { server: number; role: number; database: number }

const NAMES = {
  server: 'the server accepts (max_connections)',
  role: 'its role may have (alter role … connection limit)',
  database: 'its database may have (alter database … connection limit)'
}

/** Returns a warning when one command alone, with so many processes, may open more connections than the limits allow. */
export function describeConnectionShortage(
  perProcess: number,
  limits: PostgresServerConnectionLimits,
  processes = 1
): string | undefined {
  const wanted = perProcess * processes
  const least = (Object.keys(NAMES) as (keyof PostgresServerConnectionLimits)[])
    .filter(name => limits[name] >= 0)
    .reduce((least, name) => (limits[name] < limits[least] ? name : least), 'server')
  if (wanted <= limits[least]) return undefined
  const who = processes === 1 ? 'This process opens' : `The ${processes} workers open`
  return `${who} up to ${wanted} database connections, and ${NAMES[least]} ${limits[least]}.`
}
