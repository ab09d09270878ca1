import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { tooManyAttempts } from '../errors.ts'
import { type AttemptSubject, findPauses } from './repository.ts'

const HOUR_MS = 3_600_000

type Deps = {
  secrets: Pick<Secrets, 'mac'>
  /** How many attempts may fail in an hour, of a network and of an order. */
  failuresMax: number
  /** Counts a refusal. */
  count: (subject: AttemptSubject) => void
}

/** Stops those who try stolen cards: after many declined ones their network, and the order, pause. */
export const createAttempts = ({ secrets, failuresMax: max, count }: Deps) => ({
  /** The network as it is kept. */
  keyOf: (network: string | null): string | null =>
    network === null ? null : secrets.mac('payments.network', network),

  /** Whether too many attempts failed within the hour. `network`: as kept. */
  async isPaused(db: Queryable, network: string | null, orderId: string): Promise<boolean> {
    const since = new Date(Date.now() - HOUR_MS)
    return (await db.rows(findPauses, { network, order_id: orderId, max, since })).length > 0
  },

  /** `network`: as kept. @throws `PAYMENT_ATTEMPTS_LIMITED` while too many attempts failed within the hour. */
  async refuseTooMany(db: Queryable, network: string | null, orderId: string): Promise<void> {
    const now = Date.now()
    const pauses = await db.rows(findPauses, {
      ...{ network, order_id: orderId, max },
      since: new Date(now - HOUR_MS)
    })
    const [pause] = pauses.toSorted((a, b) => b.seen_at.getTime() - a.seen_at.getTime())
    if (pause === undefined) return
    count(pause.subject)
    const waitMs = pause.seen_at.getTime() + HOUR_MS - now
    throw tooManyAttempts({ retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
  }
})
export type Attempts = ReturnType<typeof createAttempts>
