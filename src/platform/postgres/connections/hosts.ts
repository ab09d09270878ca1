import type pg from 'pg'
import { destroyPgClient } from '../clients.ts'
import { parseDatabaseUrl, WRITABLE_SESSION_ATTRIBUTES } from '../database-url.ts'

/** The server cannot be used: it is a standby, or was the primary before a failover. */
export class ServerRejectedError extends Error {}

/**
 * Which servers a URL may name. `primary`: several hosts are those of one primary and its standbys. `replicas`: none has to be a
 * primary. `one replica`: the same, and all connections lead to one of them, so that what is read belongs together.
 */
type HostsUse = 'primary' | 'replicas' | 'one replica'

/**
 * The hosts of a connection URL, shared by all connections of a process. With several hosts, or
 * `target_session_attrs=read-write`, only a primary is used. After a failover the connections to the old primary are
 * closed, because a primary that was frozen or cut off may come back and accept writes that are lost.
 */
export class DatabaseHosts {
  readonly urls: readonly string[]
  /** Whether a standby is rejected. */
  readonly requiresPrimary: boolean
  /** Whether all connections lead to the same host. */
  readonly #usesOne: boolean
  /** The host that the next attempt connects to. */
  #current = 0
  #timeline = 0
  /** Connections to primaries, and their timelines. */
  readonly #admitted = new Map<pg.Client, number>()
  /** Connections to the hosts of which one is to be used, and their indexes. */
  readonly #connected = new Map<pg.Client, number>()

  constructor(url: string, use: HostsUse = 'primary') {
    const { urls, attributes } = parseDatabaseUrl(url) ?? { urls: [url], attributes: null }
    this.urls = urls
    this.#usesOne = use === 'one replica' && urls.length > 1
    this.requiresPrimary =
      use === 'primary' &&
      (urls.length > 1 || (attributes !== null && WRITABLE_SESSION_ATTRIBUTES.includes(attributes)))
  }

  get current(): number {
    return this.#current
  }

  /** Makes the next attempt use another host, unless one was already chosen since `index` was tried. */
  leave(index: number): void {
    if (index === this.#current) this.#current = (index + 1) % this.urls.length
  }

  /**
   * Accepts a connection to host `index`. `timeline` is that of a primary; each promotion has a higher one. Closes the
   * connections to primaries with a lower timeline. @throws when a later primary is known.
   */
  admit(client: pg.Client, index: number, timeline: number): void {
    if (timeline < this.#timeline)
      throw new ServerRejectedError(
        `it was the primary before a failover (timeline ${timeline}, now ${this.#timeline})`
      )
    this.#current = index
    this.#timeline = timeline
    this.#admitted.set(client, timeline)
    client.once('end', () => this.#admitted.delete(client))
    for (const [other, its] of this.#admitted) if (its < timeline) destroyPgClient(other)
  }

  /** Makes host `index`, which a connection was opened to, the only one if one is to be used. Closes the connections to others. */
  prefer(client: pg.Client, index: number): void {
    if (!this.#usesOne) return
    this.#current = index
    this.#connected.set(client, index)
    client.once('end', () => this.#connected.delete(client))
    for (const [other, its] of this.#connected) if (its !== index) destroyPgClient(other)
  }
}
