import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Broadcast } from '../platform/broadcast.ts'
import type { Database } from '../platform/postgres/database.ts'

/** How often the database is pinged while it is away and responses are requested. */
const PING_MS = 500
/** When contact is lost and a ping has no answer for this long, the database is away. Handlers would wait longer. */
const SILENCE_MS = 250
/** Stale responses are sent until the last contact with the database is so long ago. */
const CONTACT_MS_MAX = 300_000

type Deps = { broadcast: Pick<Broadcast, 'watch' | 'isLive'>; db: Pick<Database, 'ping'> }

/**
 * Tracks whether handlers would fail because the database is away, and when this process last reached it. `onLoss` is called
 * when contact is lost, while caches still know what was current.
 */
export function createDatabaseOutage({ broadcast, db }: Deps, onLoss: (now: number) => void) {
  let lostAt = Number.NEGATIVE_INFINITY
  let isAway = false
  let pingedAt = Number.NEGATIVE_INFINITY
  let isPinging = false
  broadcast.watch({
    onLoss: () => {
      lostAt = performance.now()
      onLoss(lostAt)
      waitForPing(lostAt)
    },
    onReturn: () => {
      isAway = false
    }
  })

  async function waitForPing(now: number): Promise<void> {
    ping(now)
    // Waits one turn of the event loop: when this process was blocked, the answer has arrived but is not read yet.
    await delay(SILENCE_MS, undefined, { ref: false }).then(() => nextTurn())
    if (isPinging && pingedAt === now && !broadcast.isLive()) isAway = true
  }

  async function ping(now: number): Promise<void> {
    isPinging = true
    pingedAt = now
    try {
      await db.ping()
      isAway = false
    } catch {
      // The next request pings again.
    } finally {
      isPinging = false
    }
  }

  return {
    /** Whether this process reached the database within the last five minutes. */
    isRecent: (now: number): boolean => broadcast.isLive() || now - lostAt < CONTACT_MS_MAX,
    /** Whether the database is known to be away: a handler has failed or a ping got no answer, and none has since. */
    isAway: (now: number): boolean => {
      if (isAway && !isPinging && now - pingedAt >= PING_MS) ping(now)
      return isAway
    },
    handlerFailed: (): void => {
      isAway = true
      pingedAt = performance.now()
    }
  }
}
