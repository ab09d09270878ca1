import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { OperatorError } from '../../kernel/errors.ts'
import { closePgClient } from './clients.ts'
import { DatabaseLostError, openUnpooledPgClient } from './connect.ts'
import { DatabaseHosts } from './connections/hosts.ts'
import { isConnectionUnusable } from './errors.ts'

/**
 * The folder with the migrations of one PostgreSQL schema: `0001_what.sql`, `0002_…`, applied in the order of their names.
 */
export type MigrationSource = { module: string; folder: URL }
type Migration = { module: string; name: string; sql: string; checksum: string }

const platformSource: MigrationSource = {
  module: 'cartwright',
  folder: new URL('../migrations/', import.meta.url)
}
const UNDEFINED_TABLE = '42P01'
const CREATE_TABLE = `
  create schema if not exists cartwright;
  create table if not exists cartwright.migrations (
    module text not null, name text not null, checksum text not null,
    applied_at timestamptz not null default now(), primary key (module, name)
  )`
const INSERT = 'insert into cartwright.migrations (module, name, checksum) values ($1, $2, $3)'

/** The applied migrations, and the connection that `migrate` continues with and closes. */
export type AppliedMigrationsWithConnection = { client: pg.Client; applied: readonly AppliedMigration[] }

/** Reads the applied migrations; a start does so while it loads the modules. @throws OperatorError */
export async function readAppliedMigrations(
  url: string,
  hosts = new DatabaseHosts(url)
): Promise<AppliedMigrationsWithConnection> {
  const client = await openUnpooledPgClient({ hosts, application_name: 'cartwright migrate' })
  try {
    return { client, applied: await appliedMigrations(client) }
  } catch (error) {
    await closePgClient(client)
    throw failed('', error)
  }
}

/**
 * Applies the missing migrations in one transaction under an advisory lock. Processes that start simultaneously wait for the
 * first; a failure leaves the database unchanged. Returns the names of applied migrations.
 * @throws OperatorError when an applied migration was edited, the database is newer than this program, or refuses.
 */
export async function migrate(
  url: string,
  modules: readonly MigrationSource[],
  finding: Promise<AppliedMigrationsWithConnection> = readAppliedMigrations(url)
): Promise<string[]> {
  const { client, applied } = await finding
  let step = ''
  try {
    await requirePrimary(client)
    const wanted = readMigrations([platformSource, ...modules])
    if (pending(wanted, applied).length === 0) return []
    await client.query('begin')
    await client.query(`select pg_advisory_xact_lock(hashtextextended('cartwright.migrations', 0))`)
    await client.query(CREATE_TABLE)
    const missing = pending(wanted, await appliedMigrations(client))
    for (const migration of missing) {
      step = ` (${nameOf(migration)})`
      await apply(client, migration)
    }
    await client.query('commit')
    return missing.map(nameOf)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw failed(step, error)
  } finally {
    // Not awaited: the caller need not wait for the connection to close.
    closePgClient(client)
  }
}

/** Checks that no migration is missing, and changes nothing. @throws OperatorError otherwise, and as `migrate` does. */
export async function requireMigrated(
  _url: string,
  modules: readonly MigrationSource[],
  finding: Promise<AppliedMigrationsWithConnection>
): Promise<void> {
  const { client, applied } = await finding
  closePgClient(client)
  const [missing] = pending(readMigrations([platformSource, ...modules]), applied)
  if (missing !== undefined)
    throw new OperatorError(
      `The database lacks the migration ${nameOf(missing)}, which a process with database.read_only does not apply. ` +
        'Start this version with the primary first.'
    )
}

async function requirePrimary(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')
  if (rows[0]?.is_standby === true)
    throw new OperatorError(
      'The database is a standby, which can only be read. Let DATABASE_URL (database.url) name the primary, or set ' +
        'database.read_only to serve public pages only.'
    )
}

async function apply(client: pg.Client, { module, name, sql, checksum }: Migration): Promise<void> {
  await client.query(sql)
  await client.query(INSERT, [module, name, checksum])
}

/**
 * Applies exactly these migrations to an empty database, in the caller's transaction.
 * @throws OperatorError when this program does not know one of them.
 */
export async function applyMigrationsOfBackup(
  client: pg.Client,
  modules: readonly MigrationSource[],
  migrations: readonly AppliedMigration[]
): Promise<void> {
  const known = readMigrations([platformSource, ...modules])
  const wanted = new Set(migrations.map(nameOf))
  const chosen = known.filter(migration => wanted.delete(nameOf(migration)))
  const [unknown] = wanted
  if (unknown !== undefined)
    throw new OperatorError(
      `The backup has the migration ${unknown}, which this version does not know. ` +
        'Restore it with the version and the modules that created it.'
    )
  pending(known, migrations)
  await client.query(CREATE_TABLE)
  for (const migration of chosen) await apply(client, migration)
}

/** Returns the applied and the pending migrations. Changes nothing. @throws OperatorError as `migrate` does. */
export async function migrationStatus(
  url: string,
  modules: readonly MigrationSource[],
  hosts = new DatabaseHosts(url)
): Promise<{ applied: string[]; pending: string[] }> {
  const { client, applied } = await readAppliedMigrations(url, hosts)
  try {
    const wanted = readMigrations([platformSource, ...modules])
    return { applied: applied.map(nameOf), pending: pending(wanted, applied).map(nameOf) }
  } finally {
    closePgClient(client)
  }
}

const nameOf = ({ module, name }: Pick<Migration, 'module' | 'name'>) => `${module}/${name}`

/** A lost connection leaves the database unchanged, so a start may try again. */
function failed(step: string, cause: unknown): OperatorError {
  const message = `Migrating the database failed${step}: ${(cause as Error).message}.`
  return isConnectionUnusable(cause)
    ? new DatabaseLostError(`Cannot reach the database: ${message}`)
    : new OperatorError(message, { cause })
}

// Reads the migration files synchronously, which takes 2 ms, because a start has nothing else to do meanwhile.
function readMigrations(sources: readonly MigrationSource[]): Migration[] {
  return sources.flatMap(({ module, folder }) => {
    const names = readdirSync(folder).filter(name => name.endsWith('.sql'))
    return names.sort().map(name => {
      const sql = readFileSync(new URL(name, folder), 'utf8')
      return { module, name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    })
  })
}

export type AppliedMigration = { readonly module: string; readonly name: string; readonly checksum: string }

async function appliedMigrations(client: pg.Client): Promise<AppliedMigration[]> {
  try {
    return (await client.query<AppliedMigration>('select module, name, checksum from cartwright.migrations'))
      .rows
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) return []
    throw error
  }
}

function pending(wanted: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  const known = new Map(wanted.map(migration => [nameOf(migration), migration]))
  const modules = new Set(wanted.map(migration => migration.module))
  for (const { module, name, checksum } of applied) {
    const migration = known.get(nameOf({ module, name }))
    if (migration === undefined && modules.has(module)) {
      throw new OperatorError(
        `The database has the migration ${module}/${name}, which this version of Cartwright does not know: ` +
          'it was migrated by a newer version. Run that one.'
      )
    }
    if (migration !== undefined && migration.checksum !== checksum) {
      throw new OperatorError(
        `The database was created by a version whose migration ${module}/${name} differs from this one's. ` +
          'Run that version, or start with an empty database. If you edited the migration, restore it and add a new one.'
      )
    }
  }
  const done = new Set(applied.map(nameOf))
  return wanted.filter(migration => !done.has(nameOf(migration)))
}
