import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** An object shaped after one of Stripe's. */
export type SandboxObject = {
  readonly id: string
  readonly object: string
  readonly [field: string]: unknown
}
export type StoredSandboxResponse = {
  key: string
  fingerprint: string
  status: number
  body: unknown
  at: number
}

/** One change, written atomically as a line of the file. The field names are stored. */
export type SandboxStateChangeEntry = {
  /** Time of the sandbox's own clock, in seconds. */
  at: number
  /** Objects after the change. */
  objects?: readonly SandboxObject[]
  events?: readonly SandboxObject[]
  answer?: StoredSandboxResponse
  /** The id of an event that the shop acknowledged. */
  delivered?: string
  advanced?: number
}

/** Opens an append-only file. The present state is the result of all its entries. */
export function openSandboxLedger(folder: string) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'ledger.jsonl')
  const entries = read(path)
  const file = openSync(path, 'a', 0o600)
  return {
    entries,
    append: (entry: SandboxStateChangeEntry) => {
      writeSync(file, `${JSON.stringify(entry)}\n`)
      fsyncSync(file)
    },
    close: () => closeSync(file)
  }
}
export type SandboxLedger = ReturnType<typeof openSandboxLedger>

/** Ignores an incomplete last line, because its request was never answered. */
function read(path: string): SandboxStateChangeEntry[] {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}
