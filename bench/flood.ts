import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type Flood = {
  url: string
  connections: number
  /** Requests a second that are due; 0 sends the next as soon as one is answered. */
  rate: number
  seconds: number
  requests: readonly string[]
  /** The only core that the generator may run on. */
  core?: number
  /** The address that connections come from. */
  source?: string
}
export type Flooded = {
  sent: number
  good: number
  refused: number
  other: number
  failed: number
  unsent: number
  p50: number
  p99: number
  health: number
  health_failed: number
  health_p50: number
  health_p99: number
  by_second: number[]
}

const SOURCE = fileURLToPath(new URL('./flood.c', import.meta.url))

/** The load generator, compiled for this run. */
export function openFlood() {
  const folder = mkdtempSync(join(tmpdir(), 'cartwright-flood-'))
  const program = join(folder, 'flood')
  execFileSync('cc', ['-O2', '-o', program, SOURCE])
  let files = 0

  return {
    async run({ url, connections, rate, seconds, requests, core, source }: Flood): Promise<Flooded> {
      files += 1
      const file = join(folder, `requests-${files}`)
      writeFileSync(file, requests.map(request => `${request}\0`).join(''))
      const { hostname, port } = new URL(url)
      const args = [hostname, port, connections, rate, seconds, file, ...(source ? [source] : [])].map(String)
      const [command, ...rest] =
        core === undefined ? [program, ...args] : ['taskset', '-c', String(core), program, ...args]
      const { stdout } = await promisify(execFile)(command as string, rest)
      return JSON.parse(stdout) as Flooded
    },
    close: () => rm(folder, { recursive: true, force: true })
  }
}

type Extra = {
  token?: string
  guestToken?: string
  key?: string | undefined
  body?: object
  /** The client's address, as a proxy says it. */
  from?: string
}
/** The text of a request; its body is JSON. */
export function requestOf(
  method: string,
  path: string,
  { token, guestToken, key, body, from }: Extra = {}
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
    ...(guestToken === undefined ? [] : [`X-Guest-Cart-Token: ${guestToken}`]),
    ...(key === undefined ? [] : [`Idempotency-Key: ${key}`]),
    ...(from === undefined ? [] : [`X-Forwarded-For: ${from}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${text.length}`])
  ]
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}
