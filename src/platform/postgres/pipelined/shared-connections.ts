import type pg from 'pg'
import { closePgClient, destroyPgClient } from '../clients.ts'
import { DatabaseConnector } from '../connections/connector.ts'
import type { SuspectConnection } from '../connections/dead-peer-detection.ts'
import type { ConnectionPoolGroup, ConnectionPoolGroupMember } from '../connections/pool-group.ts'
import { resetDatabaseConnection } from '../connections/reset-connection.ts'
import type { DatabaseConnectConfig, DatabaseSessionSettings } from '../connections/session.ts'
import { databaseUnavailableError, isTooManyConnections, translateConnectError } from '../errors.ts'
import type { SendStatement } from '../queryable.ts'
import { PipelinedDatabaseConnection } from './shared-connection.ts'

export type PipelinedDatabaseConnectionOptions = {
  /** Number of connections. */
  count: number
  /** How long a caller waits for the first connection, in milliseconds. */
  waitMs: number
  /** A connection whose oldest statement has no response for this long counts as dead. */
  silenceMsMax: number
  /** Called when a connection was found dead. */
  onSilence(): void
  /** Session settings, for connections that it gets from other pools. */
  session: DatabaseSessionSettings
  group: ConnectionPoolGroup
}

const WATCH_MS = 100
const retryAfterSeconds = 1

/**
 * Connections that many callers share: statements are pipelined, responses arrive in order. Only for fast statements that
 * wait for no lock. While one connection is open, no caller waits for another to open.
 */
export class PipelinedDatabaseConnections implements ConnectionPoolGroupMember {
  readonly #options: PipelinedDatabaseConnectionOptions
  readonly #connector: DatabaseConnector
  readonly #watching: NodeJS.Timeout
  #open: PipelinedDatabaseConnection[] = []
  #turn = 0
  #arrival = Promise.withResolvers<void>()
  #isClosed = false
  /** Whether the server refused the last connection with "too many connections". */
  #isRefused = false
  /** Whether a read has failed for lack of a connection since the server refused one. */
  #hasFailed = false
  #isAdopting = false
  waitedMs = 0

  constructor(settings: DatabaseConnectConfig, options: PipelinedDatabaseConnectionOptions) {
    this.#options = options
    // Timeouts of the client would cost two timers per statement; `#watch` checks all connections instead.
    this.#connector = new DatabaseConnector(
      { ...settings, query_timeout: 0 },
      {
        missing: () => this.#count - this.#open.length,
        onOpen: client => {
          this.#isRefused = false
          this.#add(client)
        },
        onFail: error => this.#failed(error)
      }
    )
    options.group.join(this)
    this.#arrival.promise.catch(() => {})
    this.#watching = setInterval(() => this.#watch(), WATCH_MS).unref()
  }

  get count(): number {
    return this.#options.count
  }
  get total(): number {
    return this.#open.length
  }
  get spare(): number {
    return Math.max(0, this.#open.length - 1)
  }
  get isStarving(): boolean {
    return this.#isRefused && this.#open.length === 0 && !this.#isAdopting
  }
  /** Whether reads fail for lack of a connection. */
  get isOutOfConnections(): boolean {
    return this.#isRefused && this.#hasFailed && this.#open.length === 0
  }
  /** One shared connection is enough while the server accepts no more. */
  get #count(): number {
    return this.#options.group.isFull ? 1 : this.#options.count
  }
  get busy(): number {
    return this.#open.filter(({ inFlight }) => inFlight > 0).length
  }
  get suspects(): SuspectConnection[] {
    return this.#open.map(connection => ({
      client: connection.client,
      end: () => connection.end(),
      ...(connection.inFlight > 0 && { patienceMs: 0 })
    }))
  }

  /** Opens the connections ahead of the first query. */
  prepare(): void {
    this.#connector.open()
  }

  /** @throws the error of server or client, untranslated; `unavailable` when there is no connection. */
  query(statement: Parameters<SendStatement>[0], values: unknown[]): ReturnType<SendStatement> {
    if (this.#open.length < this.#count) this.#connector.open()
    const connection = this.#next()
    if (connection !== undefined) return connection.query(statement, values)
    return this.#wait().then(opened => opened.query(statement, values))
  }

  /** Replaces the open connections by new ones; statements pending on the old ones still complete. */
  replaceConnections(): void {
    for (const { client } of this.#open.splice(0)) closePgClient(client)
    this.#connector.open()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.group.leave(this)
    this.#connector.close()
    clearInterval(this.#watching)
    this.#settleArrival(arrival => arrival.reject(databaseUnavailableError({ retryAfterSeconds })))
    await Promise.all(this.#open.splice(0).map(({ client }) => closePgClient(client)))
  }

  lend(): undefined {}

  adopt(client: pg.Client): void {
    this.#isAdopting = true
    resetDatabaseConnection(client, this.#options.session)
      .then(
        () => this.#add(client),
        () => destroyPgClient(client)
      )
      .finally(() => {
        this.#isAdopting = false
      })
  }

  shrink(): void {
    const idle = this.#open.filter(({ inFlight }) => inFlight === 0)
    for (const { client } of idle.slice(0, this.#open.length - 1)) {
      this.#open = this.#open.filter(each => each.client !== client)
      closePgClient(client)
    }
  }

  /** Whether waiting may help although the server accepts no more connections. */
  get #mayWait(): boolean {
    return this.#isRefused && (!this.#hasFailed || this.#options.group.hasSpare(this))
  }

  #failed(error: unknown): void {
    this.#isRefused = isTooManyConnections(error)
    if (this.#isRefused) {
      const client = this.#open.length === 0 ? this.#options.group.borrow(this) : undefined
      if (client !== undefined) this.adopt(client)
      this.#options.group.onConnectionRefused()
    }
    if (!this.#mayWait) this.#settleArrival(arrival => arrival.reject(translateConnectError(error)))
  }

  #next(): PipelinedDatabaseConnection | undefined {
    this.#turn = (this.#turn + 1) % this.#options.count
    return this.#open[this.#turn % this.#open.length]
  }

  async #wait(): Promise<PipelinedDatabaseConnection> {
    const startedAt = performance.now()
    if (this.#isClosed || (this.#connector.isHopeless && !this.#mayWait))
      throw databaseUnavailableError({ retryAfterSeconds })
    const { promise: tooLate, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      this.#hasFailed = true
      reject(databaseUnavailableError({ retryAfterSeconds }))
    }, this.#options.waitMs)
    try {
      await Promise.race([this.#arrival.promise, tooLate])
    } finally {
      clearTimeout(timer)
      this.waitedMs += performance.now() - startedAt
    }
    const connection = this.#next()
    if (connection === undefined) throw databaseUnavailableError({ retryAfterSeconds })
    return connection
  }

  #add(client: pg.Client): void {
    if (this.#isClosed || this.#open.length >= this.#options.count) {
      closePgClient(client)
      return
    }
    const leave = () => {
      this.#open = this.#open.filter(each => each.client !== client)
      this.#connector.open()
    }
    client.once('error', leave)
    client.once('end', leave)
    this.#hasFailed = false
    this.#open.push(new PipelinedDatabaseConnection(client, leave))
    this.#settleArrival(arrival => arrival.resolve())
  }

  /** Resolves or rejects the callers that wait for a connection. Callers after that wait for the next one that opens. */
  #settleArrival(settle: (arrival: PromiseWithResolvers<void>) => void): void {
    settle(this.#arrival)
    this.#arrival = Promise.withResolvers()
    this.#arrival.promise.catch(() => {})
  }

  #watch(): void {
    const now = performance.now()
    const silent = this.#open.filter(connection => connection.silentMs(now) > this.#options.silenceMsMax)
    if (silent.length === 0) return
    // Waits one turn of the event loop: when this process was blocked, the responses have arrived but are not read yet.
    setImmediate(() => {
      const dead = silent.filter(connection => connection.silentMs(now) > this.#options.silenceMsMax)
      for (const connection of dead) connection.giveUp()
      if (dead.length > 0) this.#options.onSilence()
    })
  }
}
