import type { ChunkOutcome, ChunkWatch, Direction } from './proxied-connection.ts'

const LENGTH_BYTES = 4
/** Only the beginning of a message is read. */
const NAMES_BYTES_MAX = 256
const COMMIT = /^\s*commit\b/i

/** The first two strings of a message. */
const stringsIn = (body: Buffer): string[] => body.toString('latin1', 0, NAMES_BYTES_MAX).split('\0', 2)

/** The first message of a program has no type, and every other one a letter. */
export type WireMessage = { type: string; body: Buffer }

/** Follows one direction of one connection, message by message (PostgreSQL's protocol, "Message Formats"). */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0)
  #isStarted: boolean

  /** The first message of a program has no type; a server's all have. */
  constructor(direction: Direction) {
    this.#isStarted = direction === 'to_program'
  }

  *read(chunk: Buffer): Generator<WireMessage> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const typeBytes = this.#isStarted ? 1 : 0
      if (this.#rest.length < typeBytes + LENGTH_BYTES) return
      const end = typeBytes + this.#rest.readInt32BE(typeBytes)
      if (this.#rest.length < end) return
      const type = this.#isStarted ? String.fromCharCode(this.#rest[0] as number) : ''
      const body = this.#rest.subarray(typeBytes + LENGTH_BYTES, end)
      this.#rest = this.#rest.subarray(end)
      this.#isStarted = true
      yield { type, body }
    }
  }
}

/** Detects commits on one connection, in requests of the program and in responses of the server. */
class CommitReader {
  readonly #readers = {
    to_server: new MessageReader('to_server'),
    to_program: new MessageReader('to_program')
  }
  /** Names of prepared statements that commit. */
  readonly #prepared = new Set<string>()

  /** Returns whether this chunk completes a commit or the response to one. */
  mentionsCommit(direction: Direction, chunk: Buffer): boolean {
    let found = false
    for (const { type, body } of this.#readers[direction].read(chunk)) {
      found = (direction === 'to_server' ? this.#asks(type, body) : isCommitResponse(type, body)) || found
    }
    return found
  }

  #asks(type: string, body: Buffer): boolean {
    const [first = '', second = ''] = stringsIn(body)
    if (type === 'Q') return COMMIT.test(first)
    if (type === 'P') {
      if (COMMIT.test(second)) this.#prepared.add(first)
      else this.#prepared.delete(first)
    }
    return type === 'B' && this.#prepared.has(second)
  }
}

const isCommitResponse = (type: string, body: Buffer) =>
  type === 'C' && body.toString('latin1') === 'COMMIT\0'

/** Watches a proxy in front of PostgreSQL, and can break connections at COMMIT. */
export type CommitWatch = {
  watch: ChunkWatch
  /** From now on, every n-th COMMIT or response in this direction, with its connection, gets this fate. */
  breakAt(direction: Direction, fate: ChunkOutcome, oneOf: number): void
  restore(): void
}

export function watchCommits(): CommitWatch {
  const readers = new WeakMap<object, CommitReader>()
  let planted: { direction: Direction; fate: ChunkOutcome; oneOf: number } | undefined
  let commits = 0
  return {
    watch: (connection, direction, chunk) => {
      const reader = readers.get(connection) ?? new CommitReader()
      readers.set(connection, reader)
      if (!reader.mentionsCommit(direction, chunk) || planted?.direction !== direction) return 'pass'
      commits += 1
      return commits % planted.oneOf === 0 ? planted.fate : 'pass'
    },
    breakAt: (direction, fate, oneOf) => {
      planted = { direction, fate, oneOf }
    },
    restore: () => {
      planted = undefined
    }
  }
}

/** Watches a proxy in front of PostgreSQL for the names of the statements that a program sends. */
export type StatementWatch = {
  watch: ChunkWatch
  /** The statements that were sent. */
  seenStatements: ReadonlySet<string>
  /** The last statements of their transactions. */
  lastStatements: ReadonlySet<string>
  /** Calls `act` when this message is sent next; its result decides what happens to the connection. */
  onceAt(name: string, act: () => ChunkOutcome): void
  /** The same at the commit of the transaction in which this one is sent next. */
  onceCommitted(name: string, act: () => ChunkOutcome): void
  restore(): void
}

export function watchStatements(): StatementWatch {
  const readers = new WeakMap<object, { messages: MessageReader; commits: CommitReader; name: string }>()
  const seen = new Set<string>()
  const last = new Set<string>()
  let planted: { name: string; isAtCommit: boolean; act: () => ChunkOutcome } | undefined
  /** The connection that is killed at its next commit. */
  let committing: object | undefined

  function outcomeOf(connection: object, names: readonly string[], isCommit: boolean): ChunkOutcome {
    if (planted === undefined) return 'pass'
    if (names.includes(planted.name)) committing = connection
    const isDue = planted.isAtCommit ? isCommit && committing === connection : names.includes(planted.name)
    if (!isDue) return 'pass'
    const { act } = planted
    restore()
    return act()
  }
  function restore(): void {
    planted = undefined
    committing = undefined
  }
  function plant(name: string, isAtCommit: boolean, act: () => ChunkOutcome): void {
    restore()
    planted = { name, isAtCommit, act }
  }

  return {
    seenStatements: seen,
    lastStatements: last,
    watch: (connection, direction, chunk) => {
      if (direction === 'to_program') return 'pass'
      const reader = readers.get(connection) ?? {
        messages: new MessageReader(direction),
        commits: new CommitReader(),
        name: ''
      }
      readers.set(connection, reader)
      const names = [...reader.messages.read(chunk)]
        .map(({ type, body }) => (type === 'B' ? (stringsIn(body)[1] ?? '') : ''))
        // Only statements of modules have a name with a dot.
        .filter(name => name.includes('.'))
      for (const name of names) seen.add(name)
      reader.name = names.at(-1) ?? reader.name
      const isCommit = reader.commits.mentionsCommit(direction, chunk)
      if (isCommit) last.add(reader.name)
      return outcomeOf(connection, names, isCommit)
    },
    onceAt: (name, act) => plant(name, false, act),
    onceCommitted: (name, act) => plant(name, true, act),
    restore
  }
}
