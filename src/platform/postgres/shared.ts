import type pg from 'pg'
import { destroy, hangUp, type SessionSettings } from './connect.ts'
import { databaseUnavailable, isTooManyConnections, translateConnectError } from './errors.ts'
import { Opener } from './opener.ts'
import type { Member, PoolGroup } from './pool-group.ts'
import type { Send } from './queryable.ts'
import { SharedConnection } from './shared-connection.ts'
import type { Suspect } from './silence.ts'
import { takeOver } from './take-over.ts'

export type SharedOptions = {
  /** How many there are. */
  count: number
  /** Nobody waits longer for the first to be made. */
  waitMs: number
  /** One whose oldest statement is not answered for so long is taken for dead. */
  silenceMsMax: number
  /** Called when one was. */
  onSilence(): void
  /** What its connections are set to, for those that it takes over from a pool. */
  session: SessionSettings
  group: PoolGroup
}

const WATCH_MS = 100
const retryAfterSeconds = 1

/**
 * Connections that many callers use at once: statements are written behind each other without waiting, answers come
 * back in order. Only for quick statements that wait for nobody. While one is open, nobody waits for another.
 */
export class SharedConnections implements Member {
  readonly #options: SharedOptions
  readonly #opener: Opener
  readonly #watching: NodeJS.Timeout
  #open: SharedConnection[] = []
  #turn = 0
  #arrival = Promise.withResolvers<void>()
  #isClosed = false
  /** The server accepted no more connections when one was last wanted. */
  #isRefused = false
  /** And a read failed for want of one since. */
  #hasFailed = false
  #isAdopting = false
  waitedMs = 0

  constructor(settings: pg.ClientConfig, options: SharedOptions) {
    this.#options = options
    // Time limits of the client's own would cost each statement two timers; `#watch` sees to all of them.
    this.#opener = new Opener(
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
  /** Reads fail for want of a connection. */
  get isOut(): boolean {
    return this.#isRefused && this.#hasFailed && this.#open.length === 0
  }
  /** One is enough to work with while the server accepts no more. */
  get #count(): number {
    return this.#options.group.isFull ? 1 : this.#options.count
  }
  get busy(): number {
    return this.#open.filter(({ inFlight }) => inFlight > 0).length
  }
  get suspects(): Suspect[] {
    return this.#open
  }

  /** Makes them before anybody asks. */
  prepare(): void {
    this.#opener.open()
  }

  /** @throws what the server or the client says, untranslated; `unavailable` when there is no connection. */
  query(statement: Parameters<Send>[0], values: unknown[]): ReturnType<Send> {
    if (this.#open.length < this.#count) this.#opener.open()
    const connection = this.#next()
    if (connection !== undefined) return connection.query(statement, values)
    return this.#wait().then(opened => opened.query(statement, values))
  }

  /** From now on nobody gets a connection that was made before. What is under way on those is answered. */
  renew(): void {
    for (const { client } of this.#open.splice(0)) hangUp(client)
    this.#opener.open()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.group.leave(this)
    this.#opener.close()
    clearInterval(this.#watching)
    this.#announce(arrival => arrival.reject(databaseUnavailable({ retryAfterSeconds })))
    await Promise.all(this.#open.splice(0).map(({ client }) => hangUp(client)))
  }

  lend(): undefined {}

  adopt(client: pg.Client): void {
    this.#isAdopting = true
    takeOver(client, this.#options.session)
      .then(
        () => this.#add(client),
        () => destroy(client)
      )
      .finally(() => {
        this.#isAdopting = false
      })
  }

  shrink(): void {
    const idle = this.#open.filter(({ inFlight }) => inFlight === 0)
    for (const { client } of idle.slice(0, this.#open.length - 1)) {
      this.#open = this.#open.filter(each => each.client !== client)
      hangUp(client)
    }
  }

  /** Whether a caller may get a connection although the server accepts no more. */
  get #mayWait(): boolean {
    return this.#isRefused && (!this.#hasFailed || this.#options.group.hasSpare(this))
  }

  #failed(error: unknown): void {
    this.#isRefused = isTooManyConnections(error)
    if (this.#isRefused) {
      const client = this.#open.length === 0 ? this.#options.group.borrow(this) : undefined
      if (client !== undefined) this.adopt(client)
      this.#options.group.refused()
    }
    if (!this.#mayWait) this.#announce(arrival => arrival.reject(translateConnectError(error)))
  }

  #next(): SharedConnection | undefined {
    this.#turn = (this.#turn + 1) % this.#options.count
    return this.#open[this.#turn % this.#open.length]
  }

  async #wait(): Promise<SharedConnection> {
    const startedAt = performance.now()
    if (this.#isClosed || (this.#opener.isHopeless && !this.#mayWait))
      throw databaseUnavailable({ retryAfterSeconds })
    const { promise: tooLate, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      this.#hasFailed = true
      reject(databaseUnavailable({ retryAfterSeconds }))
    }, this.#options.waitMs)
    try {
      await Promise.race([this.#arrival.promise, tooLate])
    } finally {
      clearTimeout(timer)
      this.waitedMs += performance.now() - startedAt
    }
    const connection = this.#next()
    if (connection === undefined) throw databaseUnavailable({ retryAfterSeconds })
    return connection
  }

  #add(client: pg.Client): void {
    if (this.#isClosed || this.#open.length >= this.#options.count) {
      hangUp(client)
      return
    }
    const leave = () => {
      this.#open = this.#open.filter(each => each.client !== client)
      this.#opener.open()
    }
    client.once('error', leave)
    client.once('end', leave)
    this.#hasFailed = false
    this.#open.push(new SharedConnection(client, leave))
    this.#announce(arrival => arrival.resolve())
  }

  /** Tells those who wait for a connection, and lets the next ones wait for the next news. */
  #announce(tell: (arrival: PromiseWithResolvers<void>) => void): void {
    tell(this.#arrival)
    this.#arrival = Promise.withResolvers()
    this.#arrival.promise.catch(() => {})
  }

  #watch(): void {
    const now = performance.now()
    const silent = this.#open.filter(connection => connection.silentMs(now) > this.#options.silenceMsMax)
    if (silent.length === 0) return
    // One more turn: if it was this process that stood still, the answers are there and only have to be read.
    setImmediate(() => {
      const dead = silent.filter(connection => connection.silentMs(now) > this.#options.silenceMsMax)
      for (const connection of dead) connection.giveUp()
      if (dead.length > 0) this.#options.onSilence()
    })
  }
}
