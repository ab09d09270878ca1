import type pg from 'pg'
import { destroy, streamOf } from './connect.ts'
import { databaseUnavailable, isLockTimeout, isUnusable } from './errors.ts'
import type { Send } from './queryable.ts'
import { type DescribedColumns, SharedQuery } from './shared-query.ts'

const retryAfterSeconds = 1

/** One connection that many callers use at once. */
export class SharedConnection {
  readonly client: pg.Client
  readonly #leave: () => void
  readonly #described: DescribedColumns = new Map()
  #isHeldBack = false
  #isGivenUp = false
  #sent = 0
  #answered = 0
  /** The statement that is waited for: what was the latest one at `#markedAt`. */
  #mark = 0
  #markedAt = 0

  /** `leave` is called when the connection is given up: nobody else may get it from then on. */
  constructor(client: pg.Client, leave: () => void) {
    this.client = client
    this.#leave = leave
  }

  get inFlight(): number {
    return this.#sent - this.#answered
  }

  query(statement: Parameters<Send>[0], values: unknown[]): ReturnType<Send> {
    return new Promise((resolve, reject) => {
      const query = new SharedQuery(statement, values, this.#described, {
        resolve: answer => {
          this.#answered += 1
          resolve(answer)
        },
        reject: error => {
          this.#answered += 1
          reject(this.#failed(error))
        }
      })
      this.#sent += 1
      this.#holdBack()
      this.client.query(query)
    })
  }

  #failed(error: unknown): unknown {
    // Whoever came behind a statement that waited for a lock does not wait for the next such one.
    if (isUnusable(error) || (isLockTimeout(error) && this.inFlight > 0)) this.end()
    return this.#isGivenUp ? databaseUnavailable({ cause: error, retryAfterSeconds }) : error
  }

  /** For how long, at least, the oldest statement has not been answered. Answers come in the order of the statements. */
  silentMs(now: number): number {
    if (this.#answered >= this.#mark) {
      this.#mark = this.#sent
      this.#markedAt = now
    }
    return this.inFlight === 0 ? 0 : now - this.#markedAt
  }

  giveUp(): void {
    this.#isGivenUp = true
    this.end()
  }

  end(): void {
    this.#leave()
    destroy(this.client)
  }

  /**
   * Keeps what is written until the end of this turn of the event loop, so that the statements of all requests that
   * arrived together leave in one system call, and PostgreSQL wakes up once for them.
   */
  #holdBack(): void {
    if (this.#isHeldBack) return
    this.#isHeldBack = true
    const stream = streamOf(this.client)
    stream.cork()
    setImmediate(() => {
      this.#isHeldBack = false
      stream.uncork()
    })
  }
}
