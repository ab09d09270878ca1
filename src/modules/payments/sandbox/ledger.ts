import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** An object shaped after one of Stripe's. */
export type StoredObject = { readonly id: string; readonly object: string; readonly [field: string]: unknown }
export type KeptAnswer = { key: string; fingerprint: string; status: number; body: unknown; at: number }

/** One thing that happened, whole or not at all: a line of the file. */
export type Entry = {
  /** In seconds of the sandbox's own clock. */
  at: number
  /** Objects as they are from now on. */
  objects?: readonly StoredObject[]
  events?: readonly StoredObject[]
  answer?: KeptAnswer
  /** The id of an event that its receiver has confirmed. */
  delivered?: string
  advanced?: number
}

/** What is written is never changed: what is true now is the sum of the file. */
export function openLedger(folder: string) {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'ledger.jsonl')
  const entries = read(path)
  const file = openSync(path, 'a', 0o600)
  return {
    entries,
    append: (entry: Entry) => {
      writeSync(file, `${JSON.stringify(entry)}\n`)
      fsyncSync(file)
    },
    close: () => closeSync(file)
  }
}
export type Ledger = ReturnType<typeof openLedger>

/** A last line without an end was never answered for. */
function read(path: string): Entry[] {
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
