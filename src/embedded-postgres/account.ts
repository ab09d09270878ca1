import fs from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../kernel/errors.ts'
import { lockFolder } from './folder-lock.ts'
import {
  createFolderWithMode,
  DATABASE_SYSTEM_USER_FOLDER,
  type DatabaseSystemUser,
  runPostgresProgram
} from './programs.ts'
import type { ReportEmbeddedPostgresProgress } from './server.ts'

/**
 * The system user of the database when root starts the shop: PostgreSQL refuses root, and the user `nobody` is shared with
 * other services. The name `cartwright` may be taken by another user.
 */
const NAME = 'cartwright-db'
const USERADD = '/usr/sbin/useradd'
const USERADD_OPTIONS =
  '--system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin'
const USERADD_MS_MAX = 10_000
const PAUSE_MS = 50

/** The database role, and the name of the user map that may use it. */
const ROLE = 'cartwright'

/**
 * Returns the system user of the database and creates it when it is missing, because initdb needs a user with a name. A lock
 * serializes `useradd`: of two concurrent ones both succeed, and the second changes the uid of the first.
 */
export async function provideDatabaseSystemUser(
  report: ReportEmbeddedPostgresProgress
): Promise<DatabaseSystemUser> {
  const deadline = Date.now() + USERADD_MS_MAX
  for (;;) {
    const account = accountNamed(NAME)
    if (account !== undefined) return account
    createFolderWithMode(DATABASE_SYSTEM_USER_FOLDER, 0o755)
    const lock = lockFolder(DATABASE_SYSTEM_USER_FOLDER)
    try {
      if (lock !== undefined && accountNamed(NAME) === undefined) makeAccount(report)
    } finally {
      lock?.release()
    }
    if (lock !== undefined) continue
    if (Date.now() > deadline) throw accountMissing(`another process holds ${DATABASE_SYSTEM_USER_FOLDER}`)
    await delay(PAUSE_MS)
  }
}

function makeAccount(report: ReportEmbeddedPostgresProgress): void {
  const made = runPostgresProgram({}, USERADD, [...USERADD_OPTIONS.split(' '), NAME])
  if (made.status !== 0) throw accountMissing(made.error?.message ?? made.stderr.trim())
  report(`Made the system user ${NAME}, which the database runs as.`)
}

const accountMissing = (reason: string) =>
  new OperatorError(
    `PostgreSQL does not run as root, and a user for it cannot be made (${reason}): make a system user ` +
      `${NAME}, or start as another user than root.`
  )

/**
 * Whether the data need another owner than this one: PostgreSQL refuses root, and `nobody` is shared with other services.
 */
export const mustChangePostgresFilesOwner = (uid: number): boolean =>
  uid === 0 || uid === accountNamed('nobody')?.uid

function accountNamed(name: string): Required<DatabaseSystemUser> | undefined {
  const found = readAccounts().find(each => each.name === name)
  return found && { uid: found.uid, gid: found.gid }
}

/** The names of a system user by its uid; empty when it has none. */
const nameOf = ({ uid }: DatabaseSystemUser): string[] =>
  readAccounts()
    .filter(each => each.uid === uid)
    .map(({ name }) => name)

function readAccounts(): (Required<DatabaseSystemUser> & { name: string })[] {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.map(line => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}

export function changeFileOwner({ uid, gid }: DatabaseSystemUser, path: string): void {
  if (uid !== undefined && gid !== undefined) fs.lchownSync(path, uid, gid)
}

/**
 * Changes the owner of a database folder and all its contents, while no server runs on it. Works from the top, which is
 * closed first, so that the previous owner cannot put a symbolic link in the way. The top gets its new owner last, so an
 * interrupted change is started again.
 */
export function changeFolderOwner(folder: string, account: DatabaseSystemUser): void {
  fs.lchownSync(folder, 0, 0)
  fs.chmodSync(folder, 0o700)
  changeOwnerOfContents(folder, account)
  changeFileOwner(account, folder)
}

function changeOwnerOfContents(folder: string, account: DatabaseSystemUser): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile() && fs.lstatSync(path).nlink > 1) {
      throw new OperatorError(`${path} has a second name elsewhere, so it cannot be handed over: copy it.`)
    }
    changeFileOwner(account, path)
    if (entry.isDirectory()) changeOwnerOfContents(path, account)
  }
}

/**
 * Allows logins only of root, the user of this process and the owner of the data, as the kernel identifies them ("peer").
 * Written at each start, because the user may have changed, and older clusters allowed all logins.
 */
export function restrictDatabaseLoginsToSystemUsers(cluster: string, account: DatabaseSystemUser): void {
  const names = new Set(['root', nameOfThisUser(), ...nameOf(account)])
  const maps = [...names].map(name => `${ROLE} "${name.replaceAll('"', '""')}" ${ROLE}`)
  replaceFile(join(cluster, 'pg_ident.conf'), maps, account)
  replaceFile(join(cluster, 'pg_hba.conf'), [`local all ${ROLE} peer map=${ROLE}`], account)
}

function nameOfThisUser(): string {
  try {
    return userInfo().username
  } catch (cause) {
    throw new OperatorError(
      `The embedded PostgreSQL needs a user with a name, and ${process.getuid?.()} has none: start as another user, ` +
        'or set DATABASE_URL to a PostgreSQL server.',
      { cause }
    )
  }
}

/** Replaces a configuration file of PostgreSQL, and never writes through a symbolic link. */
function replaceFile(path: string, lines: readonly string[], account: DatabaseSystemUser): void {
  fs.rmSync(path, { force: true })
  fs.writeFileSync(path, `# Cartwright writes this file at each start.\n${lines.join('\n')}\n`, {
    flag: 'wx',
    mode: 0o600
  })
  changeFileOwner(account, path)
}
