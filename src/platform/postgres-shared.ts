import type { Socket } from 'node:net'
import pg from 'pg'
import { databaseUnavailable, translateDatabaseError } from './postgres-errors.ts'
import type { Columns, Row, Statement } from './statement.ts'

const RECONNECT_PAUSE_MS = 100

/**
 * One connection that many callers use at once: statements are written behind each other without waiting, answers
 * come back in order. Only for single statements that take no lock worth waiting for. A broken connection fails
 * what was under way and is made anew by the next caller, not more often than every 100 ms.
 */
export class SharedConnection {
  readonly #settings: pg.ClientConfig
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #closed = false
  #isHeldBack = false
  inFlight = 0
  waitedMs = 0

  constructor(settings: pg.ClientConfig) {
    this.#settings = settings
  }

  get isOpen(): boolean {
    return this.#client !== undefined
  }

  async query<C extends Columns>(statement: Statement<C>, values: readonly unknown[]): Promise<Row<C>[]> {
    return this.#run(client =>
      client.query({ name: statement.name, text: statement.text, values: values as unknown[] })
    )
  }

  async ping(): Promise<void> {
    await this.#run(client => client.query('select 1'))
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = this.#client ?? (await this.#connecting?.catch(() => undefined))
    await client?.end()
  }

  async #run<R>(send: (client: pg.Client) => Promise<{ rows: R[] }>): Promise<R[]> {
    const client = this.#client ?? (await this.#connect())
    this.inFlight += 1
    this.#holdBack(client)
    try {
      return (await send(client)).rows
    } catch (error) {
      const translated = translateDatabaseError(error)
      // A server that was failed over answers "read-only": its connection is no use any more.
      if (error instanceof pg.DatabaseError && error.code === '25006') this.#drop(client)
      throw translated
    } finally {
      this.inFlight -= 1
    }
  }

  /**
   * Keeps what is written until the end of this turn of the event loop, so that the statements of all requests that
   * arrived together leave in one system call, and PostgreSQL wakes up once for them.
   */
  #holdBack(client: pg.Client): void {
    if (this.#isHeldBack) return
    this.#isHeldBack = true
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    stream.cork()
    setImmediate(() => {
      this.#isHeldBack = false
      stream.uncork()
    })
  }

  async #connect(): Promise<pg.Client> {
    const startedAt = performance.now()
    if (this.#closed || startedAt - this.#failedAt < RECONNECT_PAUSE_MS) {
      throw databaseUnavailable({ retryAfterSeconds: 1 })
    }
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    try {
      return await this.#connecting
    } finally {
      this.waitedMs += performance.now() - startedAt
    }
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#settings, pipeline: true } as pg.ClientConfig)
    client.on('error', () => this.#drop(client))
    client.on('end', () => this.#drop(client))
    try {
      await client.connect()
    } catch (error) {
      this.#failedAt = performance.now()
      throw databaseUnavailable({ cause: error, retryAfterSeconds: 1 })
    }
    this.#client = client
    return client
  }

  #drop(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    client.end().catch(() => {})
  }
}
