import type pg from 'pg'
import { destroyPgClient } from '../clients.ts'
import { createPgClient } from '../connect.ts'
import { isTooManyConnections } from '../errors.ts'
import { createDatabaseSocket } from '../wire/socket.ts'
import { type DatabaseConnectConfig, verifySession } from './session.ts'

/** A pool that wants connections: how many it lacks, and what it does when one opens or fails to. */
export type PoolWantingConnections = {
  missing(): number
  onOpen(client: pg.Client): void
  onFail(error: unknown): void
}

const PAUSE_MS = 100
/**
 * Pause between connection attempts after "too many connections". It is longer because each attempt costs the server a
 * process.
 */
const FULL_PAUSE_MS = 200
/** A connection attempt without response for this long gets a second one beside it. The pause doubles up to the maximum. */
const SILENCE_MS = 200
const SILENCE_MS_MAX = 800
/** How many connection attempts without response are kept in addition to those that a pool lacks. */
const SILENT_MAX = 4

/**
 * Opens connections, to one host of the URL after another until one accepts. Retries a refusing server ten times a
 * second, and five times when it has too many connections. When the server does not respond, starts further attempts
 * beside the pending ones, after 200, 400 and then every 800 ms. Their packets may stay lost for seconds after the
 * server is back. With several hosts that attempt goes to the next host. The oldest attempt is never given up for a new
 * one, because a server that needs a second for each connection would then never open one.
 */
export class DatabaseConnector {
  readonly #settings: DatabaseConnectConfig
  readonly #wanting: PoolWantingConnections
  /** Pending connection attempts, the oldest first. */
  readonly #tries = new Set<pg.Client>()
  #startedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #pauseMs = PAUSE_MS
  #silenceMs = SILENCE_MS
  /** Hosts that refused or did not respond since a connection was opened. */
  readonly #failedHosts = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(settings: DatabaseConnectConfig, wanting: PoolWantingConnections) {
    this.#settings = settings
    this.#wanting = wanting
  }

  /** Whether the last connection attempt just failed and none is pending. */
  get isHopeless(): boolean {
    return this.#tries.size === 0 && performance.now() - this.#failedAt < this.#pauseMs
  }

  /** Opens the connections that the pool lacks. Called whenever it may lack one. */
  open(): void {
    const missing = this.#isClosed ? 0 : this.#wanting.missing()
    if (missing <= 0) return
    const now = performance.now()
    const pauseMs = this.#failedAt + this.#pauseMs - now
    if (pauseMs > 0) {
      this.#openIn(pauseMs)
      return
    }
    const isSilent = this.#tries.size > 0 && now - this.#startedAt >= this.#silenceMs
    if (isSilent) this.#prepareAnotherAttempt()
    const count = Math.max(missing - this.#tries.size, isSilent ? 1 : 0)
    for (let i = 0; i < count; i += 1) this.#try(now)
    this.#openIn(this.#silenceMs)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const client of this.#tries) destroyPgClient(client)
    this.#tries.clear()
  }

  /** Chooses the next host for an attempt beside those without response, and makes room for it. */
  #prepareAnotherAttempt(): void {
    const { hosts } = this.#settings
    this.#failedHosts.add(hosts.current)
    hosts.leave(hosts.current)
    this.#silenceMs = Math.min(2 * this.#silenceMs, SILENCE_MS_MAX)
    const [, second] = this.#tries
    if (second === undefined || this.#tries.size < this.#wanting.missing() + SILENT_MAX) return
    this.#tries.delete(second)
    destroyPgClient(second)
  }

  #openIn(milliseconds: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.open()
    }, milliseconds).unref()
  }

  #try(now: number): void {
    const { hosts } = this.#settings
    const index = hosts.current
    const pooled = { pipeline: true, stream: createDatabaseSocket }
    const client = createPgClient({ ...this.#settings, ...pooled } as DatabaseConnectConfig, index)
    this.#tries.add(client)
    this.#startedAt = now
    const connected = client.connect().then(() => verifySession(client, this.#settings, index))
    connected.then(
      () => {
        if (!this.#tries.delete(client)) return destroyPgClient(client)
        this.#failedAt = Number.NEGATIVE_INFINITY
        this.#failedHosts.clear()
        this.#silenceMs = SILENCE_MS
        return this.#wanting.onOpen(client)
      },
      error => {
        destroyPgClient(client)
        if (!this.#tries.delete(client)) return
        hosts.leave(index)
        this.#failedHosts.add(index)
        this.#silenceMs = SILENCE_MS
        // The pause is between two rounds over all hosts.
        if (this.#failedHosts.size === hosts.urls.length) {
          this.#failedHosts.clear()
          this.#failedAt = performance.now()
          this.#pauseMs = isTooManyConnections(error) ? FULL_PAUSE_MS : PAUSE_MS
          this.#wanting.onFail(error)
        }
        this.open()
      }
    )
  }
}
