import type pg from 'pg'

/** A pool as the other pools of its group see it. */
export type PoolMember = {
  readonly total: number
  /** How many of its connections other pools may get. */
  readonly spare: number
  /** Whether it has work and no connection, because the server accepts no more. */
  readonly isStarving: boolean
  /** Removes an idle connection from the pool and returns it; undefined when it has none. */
  lend(): pg.Client | undefined
  /** Adds a connection of another pool. */
  adopt(client: pg.Client): void
  /** Closes idle connections while the pool has more than one. */
  shrink(): void
}

/** How long after a refused connection the pools open no new ones. */
const FULL_MS = 10_000

/**
 * The connection pools of a process. When the server accepts no more connections (SQLSTATE 53300), a pool without one gets
 * an idle one of another pool, or the next one released there. So all kinds of work continue with few connections.
 */
export class PoolGroup {
  /** Ordered by when they were last served, the least recent first. */
  readonly #members = new Set<PoolMember>()
  #fullUntil = Number.NEGATIVE_INFINITY

  /** Whether the server has refused a connection within the last ten seconds. */
  get isFull(): boolean {
    return performance.now() < this.#fullUntil
  }

  join(member: PoolMember): void {
    this.#members.add(member)
  }
  leave(member: PoolMember): void {
    this.#members.delete(member)
  }

  /** Closes idle connections after the server refused one, so that pools without a connection can open one. */
  onConnectionRefused(): void {
    this.#fullUntil = performance.now() + FULL_MS
    for (const member of this.#members) member.shrink()
  }

  /** Takes an idle connection of another member, preferring the largest. */
  borrow(borrower: PoolMember): pg.Client | undefined {
    const lenders = [...this.#members].filter(member => member !== borrower)
    for (const lender of lenders.sort((a, b) => b.total - a.total)) {
      const client = lender.lend()
      if (client !== undefined) return client
    }
    return undefined
  }

  /** Whether another member may lend a connection. */
  hasSpare(borrower: PoolMember): boolean {
    return [...this.#members].some(member => member !== borrower && member.spare > 0)
  }

  /** Returns the member without connections that was served least recently, for a connection that `giver` released. */
  findStarving(giver: PoolMember): PoolMember | undefined {
    if (!this.isFull) return undefined
    const starving = [...this.#members].find(member => member !== giver && member.isStarving)
    if (starving !== undefined) {
      this.#members.delete(starving)
      this.#members.add(starving)
    }
    return starving
  }
}
