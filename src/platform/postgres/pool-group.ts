import type pg from 'pg'

/** A pool as the others of its group see it. */
export type Member = {
  readonly total: number
  /** How many of its connections others may hope for. */
  readonly spare: number
  /** Has work and no connection, because the server accepts no more. */
  readonly isStarving: boolean
  /** An idle connection, which is no longer the pool's; undefined when it has none to give. */
  lend(): pg.Client | undefined
  /** Takes over a connection of another pool. */
  adopt(client: pg.Client): void
  /** Ends idle connections while the pool has more than one. */
  shrink(): void
}

/** For so long after a refusal, pools make do with what they have. */
const FULL_MS = 10_000

/**
 * The connection pools of a process. When the server accepts no more connections (SQLSTATE 53300), a pool without one
 * takes an idle one of another pool, or the next one that another pool gets back. So every kind of work goes on, however
 * few connections there are.
 */
export class PoolGroup {
  /** Those that were served least recently first. */
  readonly #members = new Set<Member>()
  #fullUntil = Number.NEGATIVE_INFINITY

  /** Whether the server has refused a connection within the last ten seconds. */
  get isFull(): boolean {
    return performance.now() < this.#fullUntil
  }

  join(member: Member): void {
    this.#members.add(member)
  }
  leave(member: Member): void {
    this.#members.delete(member)
  }

  /** The server has refused a connection: what is idle goes back to it, for those who have none. */
  refused(): void {
    this.#fullUntil = performance.now() + FULL_MS
    for (const member of this.#members) member.shrink()
  }

  /** An idle connection of another member, of the one that has most. */
  borrow(borrower: Member): pg.Client | undefined {
    const lenders = [...this.#members].filter(member => member !== borrower)
    for (const lender of lenders.sort((a, b) => b.total - a.total)) {
      const client = lender.lend()
      if (client !== undefined) return client
    }
    return undefined
  }

  /** Whether waiting for a connection of another member makes sense. */
  hasSpare(borrower: Member): boolean {
    return [...this.#members].some(member => member !== borrower && member.spare > 0)
  }

  /** Another member that needs a connection which `giver` has finished with: the one that was served least recently. */
  starving(giver: Member): Member | undefined {
    if (!this.isFull) return undefined
    const starving = [...this.#members].find(member => member !== giver && member.isStarving)
    if (starving !== undefined) {
      this.#members.delete(starving)
      this.#members.add(starving)
    }
    return starving
  }
}
