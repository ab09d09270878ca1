import { readFileSync } from 'node:fs'

/** File descriptors reserved for program files, uploads, pipes, and connections to the cache and other servers. */
const OTHER_FILES = 256

/** Limit of open files and sockets of this process; undefined when it is unlimited, or unknown outside Linux. */
export function openFilesLimit(limits = readLimits()): number | undefined {
  const soft = /^Max open files +(\d+)/m.exec(limits)?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/**
 * Returns a warning when the limit of open files is too low for the configured connections. The kernel would reset new
 * connections without a response or a log line.
 */
export function describeOpenFilesShortage(
  { clients, database }: { clients: number; database: number },
  limit = openFilesLimit()
): string | undefined {
  const wanted = clients + database + OTHER_FILES
  if (limit === undefined || wanted <= limit) return undefined
  return `This process may open ${limit} files, and server.connections_max ${clients} needs ${wanted} with those of the database and other files. Beyond the limit new connections are reset.`
}

export const OPEN_FILES_ADVICE =
  'Raise the limit (LimitNOFILE= of systemd, --ulimit nofile= of Docker, ulimit -n of a shell), or lower server.connections_max.'

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
