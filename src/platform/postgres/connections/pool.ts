import type pg from 'pg'
import { closePgClient, destroyPgClient, socketOfPgClient } from '../clients.ts'
import {
  databaseBusyError,
  databaseUnavailableError,
  isTooManyConnections,
  translateConnectError
} from '../errors.ts'
import { DatabaseConnector } from './connector.ts'
import type { SuspectConnection } from './dead-peer-detection.ts'
import type { ConnectionPoolGroup, ConnectionPoolGroupMember } from './pool-group.ts'
import { resetDatabaseConnection } from './reset-connection.ts'
import type { DatabaseConnectConfig, DatabaseSessionSettings } from './session.ts'

export type ConnectionPoolOptions = {
  /** Maximum number of connections. They are opened on demand. */
  max: number
  /** How long a caller waits for a connection, in milliseconds. */
  waitMs: number
  /** How long a connection in use may be silent during dead peer detection; when left out, those in use are not checked. */
  patienceMs?: number
  /** Session settings that the pool applies to a connection of another pool. */
  session: DatabaseSessionSettings
  group: ConnectionPoolGroup
  /** Whether other pools may get idle connections of this pool. */
  canLend: boolean
}
type Waiter = {
  resolve(client: pg.Client): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

const IDLE_MS_MAX = 60_000
/** A connection in use that received nothing for this long no longer counts towards `max`. */
const STRAY_MS = 700
const STRAY_LOOK_MS = 100
const retryAfterSeconds = 1

/** The pool that a connection belongs to. */
const ownerOf = new WeakMap<pg.Client, ConnectionPool>()

/** Connections that one caller holds at a time. The most recently used is lent first; idle ones close after a minute. */
export class ConnectionPool implements ConnectionPoolGroupMember {
  readonly #connector: DatabaseConnector
  readonly #options: ConnectionPoolOptions
  readonly #idle: { client: pg.Client; since: number }[] = []
  /** Connections in use: how many bytes each had received at the last look, and since when. */
  readonly #busy = new Map<pg.Client, { bytesRead: number; since: number }>()
  /** Connections in use that receive nothing, perhaps dead: at most `max`. They do not count towards `max`. */
  readonly #strays = new Set<pg.Client>()
  /** Connections in use that are closed when they are released. */
  readonly #retired = new WeakSet<pg.Client>()
  readonly #waiting = new Set<Waiter>()
  readonly #idleTimer: NodeJS.Timeout
  #strayTimer: NodeJS.Timeout | undefined
  #isClosed = false
  /** Whether the server refused the last connection with "too many connections". */
  #isRefused = false
  /** Whether a caller has failed for lack of a connection since the server refused one. */
  #hasFailed = false
  #onLastGiven: () => void = () => {}

  constructor(settings: DatabaseConnectConfig, options: ConnectionPoolOptions) {
    this.#options = options
    this.#connector = new DatabaseConnector(settings, {
      missing: () => Math.min(this.#wanted, options.max - this.total),
      onOpen: client => this.#add(client),
      onFail: error => this.#failed(error)
    })
    options.group.join(this)
    const endUnused = () => this.#endIdle(performance.now() - IDLE_MS_MAX)
    this.#idleTimer = setInterval(endUnused, IDLE_MS_MAX / 4).unref()
  }

  get max(): number {
    return this.#options.max
  }
  get total(): number {
    return this.#idle.length + this.#busy.size
  }
  get busy(): number {
    return this.#busy.size
  }
  get spare(): number {
    return this.#options.canLend ? this.total : 0
  }
  get isStarving(): boolean {
    return this.#isRefused && this.total === 0 && this.#wanted > 0
  }
  /** Whether a caller failed for lack of a connection, and the next would fail as well. */
  get isOutOfConnections(): boolean {
    return this.isStarving && this.#hasFailed
  }
  /** Connections that callers wait for. After a failure at least one, to notice when the server accepts more. */
  get #wanted(): number {
    return this.#waiting.size || (this.#hasFailed ? 1 : 0)
  }
  get suspects(): SuspectConnection[] {
    const { patienceMs } = this.#options
    const suspect = (client: pg.Client) => ({ client, end: () => this.#end(client) })
    const atRest = this.#idle.map(({ client }) => suspect(client))
    if (patienceMs === undefined) return atRest
    const inUse = [...this.#busy.keys(), ...this.#strays].map(client => ({ ...suspect(client), patienceMs }))
    return [...atRest, ...inUse]
  }

  /** Returns a connection, which the caller must release. @throws `unavailable` when there is none in time. */
  async acquire(deadlineAt = Number.POSITIVE_INFINITY): Promise<pg.Client> {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      this.#use(idle.client)
      return idle.client
    }
    const isHopeless = this.#busy.size === 0 && this.#connector.isHopeless && !this.#mayWait
    if (this.#isClosed || isHopeless) throw databaseUnavailableError({ retryAfterSeconds })
    return new Promise((resolve, reject) => {
      const waitMs = Math.min(this.#options.waitMs, Math.max(0, deadlineAt - performance.now()))
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter)
        if (this.total === 0) this.#hasFailed = true
        reject((this.#busy.size > 0 ? databaseBusyError : databaseUnavailableError)({ retryAfterSeconds }))
      }, waitMs)
      const waiter = { resolve, reject, timer }
      this.#waiting.add(waiter)
      if (this.#isRefused) this.#borrow()
      this.#connector.open()
      this.#strayTimer ??= setTimeout(() => this.#lookForStrays(), STRAY_LOOK_MS).unref()
    })
  }

  release(client: pg.Client, isBroken = false): void {
    // A connection that broke while it was in use was removed from the pool then.
    const isStray = this.#strays.delete(client)
    const isKnown = this.#busy.delete(client) || isStray
    const isTooMany = isStray && this.total >= this.#options.max
    if (isBroken) destroyPgClient(client)
    else if (isKnown && (this.#isClosed || isTooMany || this.#retired.has(client))) closePgClient(client)
    else if (isKnown) this.#handOn(client)
    this.#sayWhenUnused()
    this.#connector.open()
  }

  /** Replaces the open connections by new ones: idle ones close now, those in use when they are released. */
  replaceConnections(): void {
    for (const client of [...this.#busy.keys(), ...this.#strays]) this.#retired.add(client)
    this.#endIdle(Number.POSITIVE_INFINITY)
  }

  /** Closes idle connections, and waits for those in use to be released. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.group.leave(this)
    this.#connector.close()
    clearInterval(this.#idleTimer)
    clearTimeout(this.#strayTimer)
    this.#refuseAll(databaseUnavailableError({ retryAfterSeconds }))
    const goodbyes = this.#idle.splice(0).map(({ client }) => closePgClient(client))
    const { promise: lastGiven, resolve } = Promise.withResolvers<void>()
    this.#onLastGiven = resolve
    if (this.#busy.size + this.#strays.size > 0) await lastGiven
    await Promise.all(goodbyes)
  }

  #add(client: pg.Client): void {
    if (this.#isClosed || this.total >= this.#options.max) {
      closePgClient(client)
      return
    }
    this.#isRefused = false
    ownerOf.set(client, this)
    const leave = () => {
      const owner = ownerOf.get(client)
      if (owner !== undefined) owner.#leave(client)
    }
    client.once('error', leave)
    client.once('end', leave)
    this.#rest(client)
  }

  lend(): pg.Client | undefined {
    if (!this.#options.canLend) return undefined
    const client = this.#idle.shift()?.client
    if (client !== undefined) ownerOf.delete(client)
    return client
  }

  adopt(client: pg.Client): void {
    ownerOf.set(client, this)
    this.#use(client)
    resetDatabaseConnection(client, this.#options.session).then(
      () => this.#busy.delete(client) && this.#rest(client),
      () => this.release(client, true)
    )
  }

  shrink(): void {
    while (this.total > 1 && this.#idle.length > 0)
      closePgClient((this.#idle.shift() as { client: pg.Client }).client)
  }

  /** Whether a caller may get a connection although the server accepts no more. */
  get #mayWait(): boolean {
    return this.#isRefused && (!this.#hasFailed || this.#options.group.hasSpare(this))
  }

  #borrow(): void {
    for (let missing = this.#waiting.size; missing > 0 && this.total < this.#options.max; missing -= 1) {
      const client = this.#options.group.borrow(this)
      if (client === undefined) return
      this.adopt(client)
    }
  }

  /** Gives a released connection to another pool without any, otherwise to a caller of this pool. */
  #handOn(client: pg.Client): void {
    const starving = this.#options.canLend ? this.#options.group.findStarving(this) : undefined
    if (starving === undefined) this.#rest(client)
    else starving.adopt(client)
  }

  #failed(error: unknown): void {
    this.#isRefused = isTooManyConnections(error)
    if (this.#isRefused) {
      this.#borrow()
      this.#options.group.onConnectionRefused()
    }
    if (this.total === 0 && !this.#mayWait) this.#refuseAll(error)
  }

  #leave(client: pg.Client): void {
    this.#busy.delete(client)
    this.#strays.delete(client)
    const at = this.#idle.findIndex(each => each.client === client)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#sayWhenUnused()
    this.#connector.open()
  }

  #sayWhenUnused(): void {
    if (this.#busy.size + this.#strays.size === 0) this.#onLastGiven()
  }

  #use(client: pg.Client): void {
    this.#hasFailed = false
    this.#busy.set(client, { bytesRead: socketOfPgClient(client).bytesRead, since: performance.now() })
  }

  /** Looks for connections in use that receive nothing. Runs only while callers wait. */
  #lookForStrays(): void {
    this.#strayTimer = undefined
    const now = performance.now()
    for (const [client, heard] of this.#busy) {
      const { bytesRead } = socketOfPgClient(client)
      if (bytesRead !== heard.bytesRead) Object.assign(heard, { bytesRead, since: now })
      if (now - heard.since < STRAY_MS || this.#strays.size >= this.#options.max) continue
      this.#busy.delete(client)
      this.#strays.add(client)
    }
    if (this.#waiting.size === 0) return
    this.#connector.open()
    this.#strayTimer = setTimeout(() => this.#lookForStrays(), STRAY_LOOK_MS).unref()
  }

  #end(client: pg.Client): void {
    this.#leave(client)
    destroyPgClient(client)
  }

  /** Gives a connection to the caller that has waited longest, or keeps it idle. */
  #rest(client: pg.Client): void {
    const [waiter] = this.#waiting
    if (waiter === undefined) {
      this.#hasFailed = false
      this.#idle.push({ client, since: performance.now() })
      return
    }
    this.#waiting.delete(waiter)
    clearTimeout(waiter.timer)
    this.#use(client)
    waiter.resolve(client)
  }

  /** Rejects all waiting callers when no connection can be opened and none will be released. */
  #refuseAll(error: unknown): void {
    if (this.#busy.size > 0 && !this.#isClosed) return
    for (const { reject, timer } of this.#waiting) {
      clearTimeout(timer)
      reject(translateConnectError(error))
    }
    this.#waiting.clear()
  }

  #endIdle(unusedSince: number): void {
    for (const idle of this.#idle.filter(({ since }) => since < unusedSince)) {
      this.#idle.splice(this.#idle.indexOf(idle), 1)
      closePgClient(idle.client)
    }
  }
}
