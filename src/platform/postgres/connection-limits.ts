import { statement } from './statement.ts'

/** A ping and a write for `/readyz`. */
const PROBES = 2
/** The writer of stock, the claims of events and jobs, and the renewal of their leases. */
const DEDICATED = 3
/** It listens to the other processes; a second one is made to see whether silent connections are dead. */
const LISTENERS = 2
/** Transactions that have waited for a lock have a pool of a quarter of the size. */
export const patientOf = (poolSize: number): number => Math.ceil(poolSize / 4)

type Sizes = {
  poolSize: number
  sharedConnections: number
  writeConnections: number
  slowConnections: number
}

/** How many connections one process opens at most. */
export function connectionsMax(sizes: Sizes, hasDiagnosticsPort: boolean): number {
  const { poolSize, sharedConnections, writeConnections, slowConnections } = sizes
  const forWork = poolSize + patientOf(poolSize) + sharedConnections + writeConnections + slowConnections
  return forWork + PROBES + DEDICATED + LISTENERS + (hasDiagnosticsPort ? PROBES : 0)
}

/** How many connections the server leaves to others than superusers, and this role and this database may have; -1: any number. */
export const findConnectionLimits = statement({
  name: 'cartwright.find_connection_limits',
  gives: { server: 'int4', role: 'int4', database: 'int4' },
  text: `
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int as server,
      (select rolconnlimit from pg_roles where rolname = current_user) as role,
      (select datconnlimit from pg_database where datname = current_database()) as database`
})
export type ConnectionLimits = { server: number; role: number; database: number }

const NAMES = {
  server: 'the server accepts (max_connections)',
  role: 'its role may have (alter role … connection limit)',
  database: 'its database may have (alter database … connection limit)'
}

/** A sentence when one process alone could want more connections than it gets. */
export function connectionShortage(wanted: number, limits: ConnectionLimits): string | undefined {
  const least = (Object.keys(NAMES) as (keyof ConnectionLimits)[])
    .filter(name => limits[name] >= 0)
    .reduce((least, name) => (limits[name] < limits[least] ? name : least), 'server')
  if (wanted <= limits[least]) return undefined
  return `This process opens up to ${wanted} database connections, and ${NAMES[least]} ${limits[least]}.`
}
