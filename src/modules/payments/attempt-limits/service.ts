import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { tooManyPaymentAttemptsError } from '../errors.ts'
import { findLimitingFailedPaymentAttempts, type LimitedPaymentAttemptSubject } from './repository.ts'

const HOUR_MS = 3_600_000

type Deps = {
  secrets: Pick<Secrets, 'mac'>
  /** Failed attempts per hour from which a network or an order is refused. */
  failuresMax: number
  /** Counts a refused attempt. */
  count: (subject: LimitedPaymentAttemptSubject) => void
}

/** Slows down card testing: after many declined attempts, the network and the order are refused for a while. */
export const createPaymentAttemptLimits = ({ secrets, failuresMax: max, count }: Deps) => ({
  /** Returns the keyed hash of a network, as it is stored. */
  hashNetwork: (network: string | null): string | null =>
    network === null ? null : secrets.mac('payments.network', network),

  /** Whether too many attempts failed within the hour. `network` is the stored hash. */
  async isLimited(db: Queryable, network: string | null, orderId: string): Promise<boolean> {
    const since = new Date(Date.now() - HOUR_MS)
    return (
      (await db.rows(findLimitingFailedPaymentAttempts, { network, order_id: orderId, max, since })).length >
      0
    )
  },

  /**
   * Rejects a new payment when too many attempts failed within the hour. `network` is the stored hash.
   * @throws `PAYMENT_ATTEMPTS_LIMITED`
   */
  async assertBelowLimit(db: Queryable, network: string | null, orderId: string): Promise<void> {
    const now = Date.now()
    const limiting = await db.rows(findLimitingFailedPaymentAttempts, {
      network,
      order_id: orderId,
      max,
      since: new Date(now - HOUR_MS)
    })
    const [latest] = limiting.toSorted((a, b) => b.seen_at.getTime() - a.seen_at.getTime())
    if (latest === undefined) return
    count(latest.subject)
    const waitMs = latest.seen_at.getTime() + HOUR_MS - now
    throw tooManyPaymentAttemptsError({ retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) })
  }
})
export type PaymentAttemptLimits = ReturnType<typeof createPaymentAttemptLimits>
