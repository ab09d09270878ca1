import fs from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { OperatorError } from '../../kernel/errors.ts'
import { lockFolder } from './folder-lock.ts'
import { type Account, makeFolder, run, SYSTEM_FOLDER } from './programs.ts'
import type { Report } from './server.ts'

/**
 * Whom the database runs as when root starts the shop: PostgreSQL refuses root, and what runs as `nobody` shares that
 * account with other services. Not plainly `cartwright`, which may be somebody's already.
 */
const NAME = 'cartwright-db'
const USERADD = '/usr/sbin/useradd'
const USERADD_OPTIONS =
  '--system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin'
const USERADD_MS_MAX = 10_000
const PAUSE_MS = 50

/** The role of the database, and the name of the map of accounts that may take it. */
const ROLE = 'cartwright'

/**
 * The system account of the database, made when there is none: initdb wants a user with a name. By one process at a
 * time: of two `useradd` at once both say yes, and the second one changes the number of the first one's user.
 */
export async function databaseAccount(report: Report): Promise<Account> {
  const deadline = Date.now() + USERADD_MS_MAX
  for (;;) {
    const account = accountNamed(NAME)
    if (account !== undefined) return account
    makeFolder(SYSTEM_FOLDER, 0o755)
    const lock = lockFolder(SYSTEM_FOLDER)
    try {
      if (lock !== undefined && accountNamed(NAME) === undefined) makeAccount(report)
    } finally {
      lock?.release()
    }
    if (lock !== undefined) continue
    if (Date.now() > deadline) throw accountMissing(`another process holds ${SYSTEM_FOLDER}`)
    await delay(PAUSE_MS)
  }
}

function makeAccount(report: Report): void {
  const made = run({}, USERADD, [...USERADD_OPTIONS.split(' '), NAME])
  if (made.status !== 0) throw accountMissing(made.error?.message ?? made.stderr.trim())
  report(`Made the system user ${NAME}, which the database runs as.`)
}

const accountMissing = (reason: string) =>
  new OperatorError(
    `PostgreSQL does not run as root, and a user for it cannot be made (${reason}): make a system user ` +
      `${NAME}, or start as another user than root.`
  )

/** Whether data of this owner are to be handed over: root cannot run them, and `nobody` is shared. */
export const isNobodys = (uid: number): boolean => uid === 0 || uid === accountNamed('nobody')?.uid

function accountNamed(name: string): Required<Account> | undefined {
  const found = readAccounts().find(each => each.name === name)
  return found && { uid: found.uid, gid: found.gid }
}

/** The name of an account, unless it has none. */
const nameOf = ({ uid }: Account): string[] =>
  readAccounts()
    .filter(each => each.uid === uid)
    .map(({ name }) => name)

function readAccounts(): (Required<Account> & { name: string })[] {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.map(line => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}

export function giveTo({ uid, gid }: Account, path: string): void {
  if (uid !== undefined && gid !== undefined) fs.lchownSync(path, uid, gid)
}

/**
 * Hands data over, while no server runs on them. From the top, which is closed first, so that the owner of before
 * cannot put a link in the way; the top gets its new owner last, so that a hand-over cut short is begun again.
 */
export function handOver(folder: string, account: Account): void {
  fs.lchownSync(folder, 0, 0)
  fs.chmodSync(folder, 0o700)
  giveAllIn(folder, account)
  giveTo(account, folder)
}

function giveAllIn(folder: string, account: Account): void {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isFile() && fs.lstatSync(path).nlink > 1) {
      throw new OperatorError(`${path} has a second name elsewhere, so it cannot be handed over: copy it.`)
    }
    giveTo(account, path)
    if (entry.isDirectory()) giveAllIn(path, account)
  }
}

/**
 * Lets in root, the user of this process and the owner of the data, as the kernel names them ("peer"), and nobody
 * else. Written at each start: the user may be another one now, and clusters of before trusted everybody.
 */
export function restrictLogins(cluster: string, account: Account): void {
  const names = new Set(['root', nameOfThisUser(), ...nameOf(account)])
  const maps = [...names].map(name => `${ROLE} "${name.replaceAll('"', '""')}" ${ROLE}`)
  writeAnew(join(cluster, 'pg_ident.conf'), maps, account)
  writeAnew(join(cluster, 'pg_hba.conf'), [`local all ${ROLE} peer map=${ROLE}`], account)
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

/** Never through a link that somebody put there. */
function writeAnew(path: string, lines: readonly string[], account: Account): void {
  fs.rmSync(path, { force: true })
  fs.writeFileSync(path, `# Cartwright writes this file at each start.\n${lines.join('\n')}\n`, {
    flag: 'wx',
    mode: 0o600
  })
  giveTo(account, path)
}
