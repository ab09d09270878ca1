import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../kernel/errors.ts'

/**
 * The process that holds a folder, from its file `lock`. `url` is null until the server of the holder accepts connections.
 */
export type FolderLockHolder = { pid: number; startedAt: string; url: string | null }

export type FolderLock = {
  /** Publishes the URL of the holder's server to other processes. */
  announce(url: string): void
  release(): void
}

const SQLITE_BUSY = 5
/** The lower byte of a result code is the primary code. */
const PRIMARY_CODE = 0xff
const SQLITE_DAMAGED = [11, 26] // corrupt, not a database

/** References to held locks, because garbage collection would close and so release them. */
const guards = new Set<DatabaseSync>()

/**
 * Locks the folder for this process; returns undefined when another process, or this one, holds it already.
 *
 * The file `lock` only informs. What excludes others is SQLite's exclusive lock on the empty file
 * `lock.sqlite`: the kernel grants it to one process at a time and takes it back the moment the process dies,
 * however it dies, so there is never a stale lock to take over, and containers that share the folder exclude
 * each other although they cannot see each other's pids. Node has no other way to such a lock. (It costs 1
 * ms.) Nothing else in this process may open that file: by POSIX, closing any descriptor of it drops the
 * lock.
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

/** The live holder of a folder; undefined when there is none, or it has not written its name yet. */
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

/**
 * When a process started, in ticks since boot, which tells it from a later one of the same pid; '' if
 * unknown.
 */
function startOf(pid: number): string {
  if (process.platform !== 'linux') return process.kill(pid, 0) ? '' : 'gone'
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets and may hold anything, so count from its end: field
  // 22.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
