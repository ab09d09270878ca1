import type pg from 'pg'

/** A connection pool, as the other pools of its group use it. */
export type ConnectionPoolGroupMember = {
  readonly total: number
  /** How many connections of this pool other pools may get. */
  readonly spare: number
  /** Whether callers wait for this pool while it has no connection, because the server accepts no more. */
  readonly isStarving: boolean
  /** Removes an idle connection from the pool and returns it; undefined when it has none. */
  lend(): pg.Client | undefined
  /** Adds to this pool a connection that another pool of the group gave away. */
  adopt(client: pg.Client): void
  /** Closes idle connections of this pool as long as it has more than one connection. */
  shrink(): void
}

/** After the server refused a connection, the pools open no new ones for this long. */
const FULL_MS = 10_000

/**
 * The connection pools of a process. When the server accepts no more connections (SQLSTATE 53300), a pool without one gets
 * one of another pool. It is an idle one, or the next one released there. So all kinds of work continue with few
 * connections.
 */
export class ConnectionPoolGroup {
  /** Pools of the group, the one that was least recently given a connection first. */
  readonly #members = new Set<ConnectionPoolGroupMember>()
  #fullUntil = Number.NEGATIVE_INFINITY

  /** Whether the server has refused a connection within the last ten seconds. */
  get isFull(): boolean {
    return performance.now() < this.#fullUntil
  }

  join(member: ConnectionPoolGroupMember): void {
    this.#members.add(member)
  }
  leave(member: ConnectionPoolGroupMember): void {
    this.#members.delete(member)
  }

  /** Closes idle connections after the server refused one, so that pools without a connection can open one. */
  onConnectionRefused(): void {
    this.#fullUntil = performance.now() + FULL_MS
    for (const member of this.#members) member.shrink()
  }

  /** Takes an idle connection from another pool of the group, preferably from the largest. */
  borrow(borrower: ConnectionPoolGroupMember): pg.Client | undefined {
    const lenders = [...this.#members].filter(member => member !== borrower)
    for (const lender of lenders.sort((a, b) => b.total - a.total)) {
      const client = lender.lend()
      if (client !== undefined) return client
    }
    return undefined
  }

  /** Whether another pool of the group may give a connection away. */
  hasSpare(borrower: ConnectionPoolGroupMember): boolean {
    return [...this.#members].some(member => member !== borrower && member.spare > 0)
  }

  /** Returns the pool without connections that waited longest, to give it a connection that `giver` released. */
  findStarving(giver: ConnectionPoolGroupMember): ConnectionPoolGroupMember | undefined {
    if (!this.isFull) return undefined
    const starving = [...this.#members].find(member => member !== giver && member.isStarving)
    if (starving !== undefined) {
      this.#members.delete(starving)
      this.#members.add(starving)
    }
    return starving
  }
}
