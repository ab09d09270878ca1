import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../kernel/errors.ts'

/**
 * The process that holds the lock of a data folder, from its file `lock`. `url` is null until its database accepts
 * connections.
 */
export type FolderLockHolder = { pid: number; startedAt: string; url: string | null }

export type FolderLock = {
  /** Publishes the URL of this process's database to other processes. */
  announce(url: string): void
  release(): void
}

const SQLITE_BUSY = 5
/** The lower byte of an SQLite result code is its primary code. */
const PRIMARY_CODE = 0xff
const SQLITE_DAMAGED = [11, 26] // corrupt, not a database

/** Connections that hold locks. Without a reference, garbage collection would close them and release the locks. */
const guards = new Set<DatabaseSync>()

/**
 * Locks a data folder for this process. Returns undefined when another process, or this one, holds the lock. The lock is
 * SQLite's exclusive lock on the empty file `lock.sqlite`. The kernel grants it to one process at a time and releases it
 * when that process dies, so it is never stale. It works across containers that share the folder, which cannot see each
 * other's pids. Node has no other access to such a lock, and it takes 1 ms. The file `lock` only informs about the holder.
 * Nothing else in this process may open `lock.sqlite`: by POSIX, closing any descriptor of it releases the lock.
 */
export function lockFolder(folder: string): FolderLock | undefined {
  const guard = takeGuard(join(folder, 'lock.sqlite'))
  if (!guard) return undefined
  guards.add(guard)

  const lockFile = join(folder, 'lock')
  const announce = (url: string | null) => {
    const holder: FolderLockHolder = { pid: process.pid, startedAt: startOf(process.pid), url }
    writeFileSync(`${lockFile}.new`, `${JSON.stringify(holder)}\n`)
    renameSync(`${lockFile}.new`, lockFile)
  }
  const release = () => {
    if (!guards.delete(guard)) return
    try {
      rmSync(lockFile, { force: true })
    } finally {
      guard.close()
    }
  }
  try {
    announce(null)
  } catch (error) {
    release()
    throw error
  }
  return { announce, release }
}

/**
 * Returns the running process that holds the lock of a folder. Returns undefined without one, and while it has not written
 * the file `lock`.
 */
export function readFolderLockHolder(folder: string): FolderLockHolder | undefined {
  try {
    const holder: FolderLockHolder = JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))
    return startOf(holder.pid) === holder.startedAt ? holder : undefined
  } catch {
    return undefined
  }
}

function takeGuard(path: string): DatabaseSync | undefined {
  let guard: DatabaseSync | undefined
  try {
    guard = new DatabaseSync(path, { timeout: 0 })
    guard.exec('begin exclusive')
    return guard
  } catch (error) {
    guard?.close()
    const code = Number((error as { errcode?: number }).errcode) & PRIMARY_CODE
    if (code === SQLITE_BUSY) return undefined
    if (SQLITE_DAMAGED.includes(code)) {
      throw new OperatorError(
        `${path} is damaged. It holds nothing: make sure that no Cartwright uses the folder, and remove it.`,
        { cause: error }
      )
    }
    throw new OperatorError(
      `${path} cannot be written (${(error as Error).message}): give this user the folder, or set ` +
        'CARTWRIGHT_DATA to another folder.',
      { cause: error }
    )
  }
}

/** The start time of a process in ticks since boot, which tells it from a later process with the same pid; '' if unknown. */
function startOf(pid: number): string {
  if (process.platform !== 'linux') return process.kill(pid, 0) ? '' : 'gone'
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets and may contain anything. So fields are counted after the last
  // bracket, to field 22.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
