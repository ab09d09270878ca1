import type pg from 'pg'
import { destroyPgClient, socketOfPgClient } from '../clients.ts'
import { databaseUnavailableError, isConnectionUnusable, isLockTimeout } from '../errors.ts'
import type { SendStatement } from '../queryable.ts'
import { type ColumnsByStatement, PipelinedQuery } from './shared-query.ts'

const retryAfterSeconds = 1

/** One connection that many callers use at once. */
export class PipelinedDatabaseConnection {
  readonly client: pg.Client
  readonly #leave: () => void
  readonly #described: ColumnsByStatement = new Map()
  #isHeldBack = false
  #isGivenUp = false
  #sent = 0
  #answered = 0
  /** Number of the statement whose response is awaited: the latest one sent at `#markedAt`. */
  #mark = 0
  #markedAt = 0

  /** `leave` removes the connection from its group, so that no other caller gets it. */
  constructor(client: pg.Client, leave: () => void) {
    this.client = client
    this.#leave = leave
  }

  get inFlight(): number {
    return this.#sent - this.#answered
  }

  query(statement: Parameters<SendStatement>[0], values: unknown[]): ReturnType<SendStatement> {
    return new Promise((resolve, reject) => {
      const query = new PipelinedQuery(statement, values, this.#described, {
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
    // Statements behind one that waited for a lock must not wait for the next lock as well.
    if (isConnectionUnusable(error) || (isLockTimeout(error) && this.inFlight > 0)) this.end()
    return this.#isGivenUp ? databaseUnavailableError({ cause: error, retryAfterSeconds }) : error
  }

  /**
   * Returns for how many milliseconds, at least, the oldest statement has had no response. Responses arrive in the order of
   * statements.
   */
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
    destroyPgClient(this.client)
  }

  /**
   * Buffers writes until the end of this turn of the event loop. So the statements of requests that arrived together leave
   * in one system call and wake PostgreSQL once.
   */
  #holdBack(): void {
    if (this.#isHeldBack) return
    this.#isHeldBack = true
    const stream = socketOfPgClient(this.client)
    stream.cork()
    setImmediate(() => {
      this.#isHeldBack = false
      stream.uncork()
    })
  }
}
