import type { Direction, Fate, Watch } from './proxied-connection.ts'

const LENGTH_BYTES = 4
/** Only the beginning of a message is read. */
const NAMES_BYTES_MAX = 256
const COMMIT = /^\s*commit\b/i

/** The strings that a message begins with. */
const stringsIn = (body: Buffer): string[] => body.toString('latin1', 0, NAMES_BYTES_MAX).split('\0', 2)

/** Follows one direction of one connection, message by message (PostgreSQL's protocol, "Message Formats"). */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0)
  #isStarted: boolean

  /** The first message of a program has no type; a server's all have. */
  constructor(direction: Direction) {
    this.#isStarted = direction === 'to_program'
  }

  *read(chunk: Buffer): Generator<{ type: string; body: Buffer }> {
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

/** Detects commits on one connection: `asked` in requests of the program, `done` in responses of the server. */
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
      found = (direction === 'to_server' ? this.#asks(type, body) : tells(type, body)) || found
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

const tells = (type: string, body: Buffer) => type === 'C' && body.toString('latin1') === 'COMMIT\0'

/** A watch for a proxy in front of PostgreSQL, which can make COMMIT the moment at which connections break. */
export type CommitWatch = {
  watch: Watch
  /** From now on, every n-th COMMIT or response in this direction, with its connection, gets this fate. */
  breakAt(direction: Direction, fate: Fate, oneOf: number): void
  restore(): void
}

export function watchCommits(): CommitWatch {
  const readers = new WeakMap<object, CommitReader>()
  let planted: { direction: Direction; fate: Fate; oneOf: number } | undefined
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

/** A watch for a proxy in front of PostgreSQL, which sees the statements that a program sends, by their names. */
export type StatementWatch = {
  watch: Watch
  /** The statements that were sent. */
  seen: ReadonlySet<string>
  /** The last statements of their transactions. */
  last: ReadonlySet<string>
  /** Calls `act` when this message is sent next; its result decides what happens to the connection. */
  onceAt(name: string, act: () => Fate): void
  /** The same at the commit of the transaction in which this one is sent next. */
  onceCommitted(name: string, act: () => Fate): void
  restore(): void
}

export function watchStatements(): StatementWatch {
  const readers = new WeakMap<object, { messages: MessageReader; commits: CommitReader; name: string }>()
  const seen = new Set<string>()
  const last = new Set<string>()
  let planted: { name: string; isAtCommit: boolean; act: () => Fate } | undefined
  /** The connection whose commit is waited for. */
  let committing: object | undefined

  function fateOf(connection: object, names: readonly string[], isCommit: boolean): Fate {
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
  function plant(name: string, isAtCommit: boolean, act: () => Fate): void {
    restore()
    planted = { name, isAtCommit, act }
  }

  return {
    seen,
    last,
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
        // Those of modules; `begin` and `commit` have none.
        .filter(name => name.includes('.'))
      for (const name of names) seen.add(name)
      reader.name = names.at(-1) ?? reader.name
      const isCommit = reader.commits.mentionsCommit(direction, chunk)
      if (isCommit) last.add(reader.name)
      return fateOf(connection, names, isCommit)
    },
    onceAt: (name, act) => plant(name, false, act),
    onceCommitted: (name, act) => plant(name, true, act),
    restore
  }
}
