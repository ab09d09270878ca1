import pg from 'pg'
import { destroy } from './connect.ts'
import { isTooManyConnections } from './errors.ts'

/** Those who want connections: how many more they could use at once, and what becomes of a try. */
export type Wanting = {
  missing(): number
  onOpen(client: pg.Client): void
  onFail(error: unknown): void
}

const PAUSE_MS = 100
/** The pause after the server refused because it has too many connections: asking costs it a process each time. */
const FULL_PAUSE_MS = 200
/** A try that has been silent for so long gets company. */
const SILENCE_MS = 200
/** So many silent tries are kept beside as many as are wanted: each has time, and a new one soon finds the way. */
const SILENT_MAX = 4

/**
 * Makes connections. A server that refuses is asked ten times a second, and five times when it has too many connections. One
 * that says nothing is asked again every
 * 200 ms, beside the tries that are still under way: the packets of those may be lost for seconds when it is back.
 */
export class Opener {
  readonly #settings: pg.ClientConfig
  readonly #wanting: Wanting
  /** The tries under way, the oldest first. */
  readonly #tries = new Set<pg.Client>()
  #startedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #pauseMs = PAUSE_MS
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(settings: pg.ClientConfig, wanting: Wanting) {
    this.#settings = settings
    this.#wanting = wanting
  }

  /** The last try has just failed, and no other one is under way. */
  get isHopeless(): boolean {
    return this.#tries.size === 0 && performance.now() - this.#failedAt < this.#pauseMs
  }

  /** Makes what is missing. To be called whenever something may be missing. */
  open(): void {
    const missing = this.#isClosed ? 0 : this.#wanting.missing()
    if (missing <= 0) return
    const now = performance.now()
    const pauseMs = this.#failedAt + this.#pauseMs - now
    if (pauseMs > 0) {
      this.#openIn(pauseMs)
      return
    }
    const isSilent = now - this.#startedAt >= SILENCE_MS
    const count = Math.max(missing - this.#tries.size, isSilent ? 1 : 0)
    for (let i = 0; i < count; i += 1) this.#try(now)
    for (const oldest of this.#tries) {
      if (this.#tries.size <= missing + SILENT_MAX) break
      this.#tries.delete(oldest)
      destroy(oldest)
    }
    this.#openIn(SILENCE_MS)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const client of this.#tries) destroy(client)
    this.#tries.clear()
  }

  #openIn(milliseconds: number): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.open()
    }, milliseconds).unref()
  }

  #try(now: number): void {
    const client = new pg.Client({ ...this.#settings, pipeline: true } as pg.ClientConfig)
    // A connection that breaks fails what is under way on it; without a listener it would end the process.
    client.on('error', () => {})
    this.#tries.add(client)
    this.#startedAt = now
    client.connect().then(
      () => {
        if (!this.#tries.delete(client)) return destroy(client)
        this.#failedAt = Number.NEGATIVE_INFINITY
        return this.#wanting.onOpen(client)
      },
      error => {
        destroy(client)
        if (!this.#tries.delete(client)) return
        this.#failedAt = performance.now()
        this.#pauseMs = isTooManyConnections(error) ? FULL_PAUSE_MS : PAUSE_MS
        this.#wanting.onFail(error)
        this.open()
      }
    )
  }
}
