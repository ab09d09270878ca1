import { readdirSync, readFileSync } from 'node:fs'

const MICROSECONDS_PER_TICK = 10_000 // the kernel counts in 1/100 s here (sysconf _SC_CLK_TCK)

/**
 * CPU time that these processes, and children of theirs that have ended, have used so far, user and system, in
 * microseconds. Linux only.
 */
export function cpuMicroseconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * MICROSECONDS_PER_TICK
}

function ticksOf(pid: number): number {
  try {
    return statFields(pid)
      .slice(11, 15)
      .reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    return 0 // it ended in the meantime
  }
}

/** The fields of /proc/<pid>/stat behind the command's name, which may contain anything (proc(5)). */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** The processes of a database server: its postmaster and every child of it. */
export function serverProcesses(postmasterPid: number): number[] {
  const pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
  const children = pids.filter(pid => {
    try {
      return Number(statFields(pid)[1]) === postmasterPid
    } catch {
      return false
    }
  })
  return [postmasterPid, ...children]
}

/** Resident memory of a process in megabytes. */
export function residentMegabytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1_024
}

/** The most memory that a process has had so far, in megabytes. */
export function residentMegabytesMax(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1_024
}
