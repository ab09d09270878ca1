import type pg from 'pg'
import { destroy, hangUp, type SessionSettings, streamOf } from './connect.ts'
import { databaseBusy, databaseUnavailable, isTooManyConnections, translateConnectError } from './errors.ts'
import { Opener } from './opener.ts'
import type { Member, PoolGroup } from './pool-group.ts'
import type { Suspect } from './silence.ts'
import { takeOver } from './take-over.ts'

export type PoolOptions = {
  /** The most connections. They are made when they are needed. */
  max: number
  /** How long anybody waits for one. */
  waitMs: number
  /** How long one in use may be silent while others are found dead; when left out, as long as its user lets it. */
  patienceMs?: number
  /** What its connections are set to, for those that it takes over from other pools. */
  session: SessionSettings
  group: PoolGroup
  /** Whether other pools may take over its idle connections. */
  canLend: boolean
}
type Waiter = {
  resolve(client: pg.Client): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

const IDLE_MS_MAX = 60_000
/** One in use of which nothing came for so long keeps its place from nobody any more. */
const STRAY_MS = 700
const STRAY_LOOK_MS = 100
const retryAfterSeconds = 1

/** The pool that a connection belongs to. */
const ownerOf = new WeakMap<pg.Client, ConnectionPool>()

/** Connections that one at a time uses. Those that were used last are used first; the others end after a minute. */
export class ConnectionPool implements Member {
  readonly #opener: Opener
  readonly #options: PoolOptions
  readonly #idle: { client: pg.Client; since: number }[] = []
  /** In use, with how much was read of it, and since when no more. */
  readonly #busy = new Map<pg.Client, { bytesRead: number; since: number }>()
  /**
   * In use, and silent: dead perhaps, or waiting for a lock. They do not count, so that others get a connection; there
   * are at most as many as connections that do.
   */
  readonly #strays = new Set<pg.Client>()
  /** In use, and of no use to anybody after that. */
  readonly #retired = new WeakSet<pg.Client>()
  readonly #waiting = new Set<Waiter>()
  readonly #sweeping: NodeJS.Timeout
  #looking: NodeJS.Timeout | undefined
  #isClosed = false
  /** The server accepted no more connections when one was last wanted. */
  #isRefused = false
  /** And work failed for want of one since. */
  #hasFailed = false
  #onLastGiven: () => void = () => {}

  constructor(settings: pg.ClientConfig, options: PoolOptions) {
    this.#options = options
    this.#opener = new Opener(settings, {
      missing: () => Math.min(this.#wanted, options.max - this.total),
      onOpen: client => this.#add(client),
      onFail: error => this.#failed(error)
    })
    options.group.join(this)
    this.#sweeping = setInterval(
      () => this.#endIdle(performance.now() - IDLE_MS_MAX),
      IDLE_MS_MAX / 4
    ).unref()
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
  /** Work failed for want of a connection, and the next would fail, too. */
  get isOut(): boolean {
    return this.isStarving && this.#hasFailed
  }
  /** One more, once work has failed: then it is known when there is room again. */
  get #wanted(): number {
    return this.#waiting.size || (this.#hasFailed ? 1 : 0)
  }
  get suspects(): Suspect[] {
    const { patienceMs } = this.#options
    const suspect = (client: pg.Client) => ({ client, end: () => this.#end(client) })
    const atRest = this.#idle.map(({ client }) => suspect(client))
    if (patienceMs === undefined) return atRest
    const inUse = [...this.#busy.keys(), ...this.#strays].map(client => ({ ...suspect(client), patienceMs }))
    return [...atRest, ...inUse]
  }

  /** A connection for the caller alone, to be given back. @throws `unavailable` when there is none in time. */
  async take(deadlineAt = Number.POSITIVE_INFINITY): Promise<pg.Client> {
    const idle = this.#idle.pop()
    if (idle !== undefined) {
      this.#use(idle.client)
      return idle.client
    }
    const isHopeless = this.#busy.size === 0 && this.#opener.isHopeless && !this.#mayWait
    if (this.#isClosed || isHopeless) throw databaseUnavailable({ retryAfterSeconds })
    return new Promise((resolve, reject) => {
      const waitMs = Math.min(this.#options.waitMs, Math.max(0, deadlineAt - performance.now()))
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter)
        if (this.total === 0) this.#hasFailed = true
        reject((this.#busy.size > 0 ? databaseBusy : databaseUnavailable)({ retryAfterSeconds }))
      }, waitMs)
      const waiter = { resolve, reject, timer }
      this.#waiting.add(waiter)
      if (this.#isRefused) this.#borrow()
      this.#opener.open()
      this.#looking ??= setTimeout(() => this.#lookForStrays(), STRAY_LOOK_MS).unref()
    })
  }

  give(client: pg.Client, isBroken = false): void {
    // It may have ended while it was in use, and be gone from here.
    const isStray = this.#strays.delete(client)
    const isKnown = this.#busy.delete(client) || isStray
    const isTooMany = isStray && this.total >= this.#options.max
    if (isBroken) destroy(client)
    else if (isKnown && (this.#isClosed || isTooMany || this.#retired.has(client))) hangUp(client)
    else if (isKnown) this.#handOn(client)
    this.#sayWhenUnused()
    this.#opener.open()
  }

  /** From now on nobody gets a connection that was made before. */
  renew(): void {
    for (const client of [...this.#busy.keys(), ...this.#strays]) this.#retired.add(client)
    this.#endIdle(Number.POSITIVE_INFINITY)
  }

  /** Ends the idle connections, and those in use when they are given back. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#options.group.leave(this)
    this.#opener.close()
    clearInterval(this.#sweeping)
    clearTimeout(this.#looking)
    this.#refuseAll(databaseUnavailable({ retryAfterSeconds }))
    const goodbyes = this.#idle.splice(0).map(({ client }) => hangUp(client))
    const lastGiven = new Promise<void>(resolve => {
      this.#onLastGiven = resolve
    })
    if (this.#busy.size + this.#strays.size > 0) await lastGiven
    await Promise.all(goodbyes)
  }

  #add(client: pg.Client): void {
    if (this.#isClosed || this.total >= this.#options.max) {
      hangUp(client)
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
    takeOver(client, this.#options.session).then(
      () => this.#busy.delete(client) && this.#rest(client),
      () => this.give(client, true)
    )
  }

  shrink(): void {
    while (this.total > 1 && this.#idle.length > 0)
      hangUp((this.#idle.shift() as { client: pg.Client }).client)
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

  /** Back to its own callers, or to a pool that has none for its callers: each has it in turn. */
  #handOn(client: pg.Client): void {
    const starving = this.#options.canLend ? this.#options.group.starving(this) : undefined
    if (starving === undefined) this.#rest(client)
    else starving.adopt(client)
  }

  #failed(error: unknown): void {
    this.#isRefused = isTooManyConnections(error)
    if (this.#isRefused) {
      this.#borrow()
      this.#options.group.refused()
    }
    if (this.total === 0 && !this.#mayWait) this.#refuseAll(error)
  }

  #leave(client: pg.Client): void {
    this.#busy.delete(client)
    this.#strays.delete(client)
    const at = this.#idle.findIndex(each => each.client === client)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#sayWhenUnused()
    this.#opener.open()
  }

  #sayWhenUnused(): void {
    if (this.#busy.size + this.#strays.size === 0) this.#onLastGiven()
  }

  #use(client: pg.Client): void {
    this.#hasFailed = false
    this.#busy.set(client, { bytesRead: streamOf(client).bytesRead, since: performance.now() })
  }

  /** Only while somebody waits. */
  #lookForStrays(): void {
    this.#looking = undefined
    const now = performance.now()
    for (const [client, heard] of this.#busy) {
      const { bytesRead } = streamOf(client)
      if (bytesRead !== heard.bytesRead) Object.assign(heard, { bytesRead, since: now })
      if (now - heard.since < STRAY_MS || this.#strays.size >= this.#options.max) continue
      this.#busy.delete(client)
      this.#strays.add(client)
    }
    if (this.#waiting.size === 0) return
    this.#opener.open()
    this.#looking = setTimeout(() => this.#lookForStrays(), STRAY_LOOK_MS).unref()
  }

  #end(client: pg.Client): void {
    this.#leave(client)
    destroy(client)
  }

  /** Hands it to whoever waits for the longest time. */
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

  /** Nobody waits for what cannot come: no connection can be made, and none will be given back. */
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
      hangUp(idle.client)
    }
  }
}
