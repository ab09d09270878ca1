import pg from 'pg'
import { hangUp, streamOf } from './postgres-connect.ts'
import {
  databaseUnavailable,
  isRetired,
  translateConnectError,
  translateDatabaseError
} from './postgres-errors.ts'
import type { Columns, Row, Statement } from './statement.ts'

const RECONNECT_PAUSE_MS = 100

/**
 * One connection that many callers use at once: statements are written behind each other without waiting, answers
 * come back in order. Only for single statements that take no lock worth waiting for. A broken connection fails
 * what was under way and is made anew by the next caller, not more often than every 100 ms.
 */
export class SharedConnection {
  readonly #settings: pg.ClientConfig
  readonly #waitMs: number
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  #failedAt = Number.NEGATIVE_INFINITY
  #closed = false
  #isHeldBack = false
  inFlight = 0
  waitedMs = 0

  /** Nobody waits longer than `waitMs` for the connection to be made. */
  constructor(settings: pg.ClientConfig, waitMs: number) {
    this.#settings = settings
    this.#waitMs = waitMs
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
    if (client !== undefined) await hangUp(client)
  }

  async #run<R>(send: (client: pg.Client) => Promise<{ rows: R[] }>): Promise<R[]> {
    const client = this.#client ?? (await this.#connect())
    this.inFlight += 1
    this.#holdBack(client)
    try {
      return (await send(client)).rows
    } catch (error) {
      if (isRetired(error)) this.#drop(client)
      throw translateDatabaseError(error)
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
    const stream = streamOf(client)
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
    const { promise: tooLate, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(databaseUnavailable({ retryAfterSeconds: 1 })), this.#waitMs)
    try {
      return await Promise.race([this.#connecting, tooLate])
    } finally {
      clearTimeout(timer)
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
      hangUp(client)
      throw translateConnectError(error)
    }
    this.#client = client
    return client
  }

  #drop(client: pg.Client): void {
    if (this.#client !== client) return
    this.#client = undefined
    // What is under way on it may still be answered; a server that has gone is not waited for.
    client.end().catch(() => {})
  }
}
