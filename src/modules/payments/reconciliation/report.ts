/** Something that a provider has in its books and that is not known here. */
export type Discrepancy = {
  readonly provider: string
  /** `payment_unknown`: it is of an order of ours, of which nothing is here. `object_unreadable`: it does not have the expected form. */
  readonly kind: 'fact_missing' | 'payment_unknown' | 'object_unreadable'
  /** What the provider calls the payment, or the object that cannot be read. */
  readonly objectId: string
  readonly paymentId: string | null
  readonly orderId: string | null
  readonly detail: string
  /** `quarantined`: it cannot be what it says, and an administrator decides. */
  readonly outcome: 'found' | 'recorded' | 'quarantined'
}

/** `findings` are the first thousand. */
export type ReconcileReport = {
  readonly since: Date
  /** How many payments, refunds and disputes the providers named. */
  readonly looked: number
  readonly findings: readonly Discrepancy[]
  readonly total: number
  readonly recorded: number
  readonly quarantined: number
}

const FINDINGS_MAX = 1_000

/** Counts all, and keeps the first thousand. */
export function createTally(since: Date) {
  const findings: Discrepancy[] = []
  let [looked, total] = [0, 0]
  const by = { found: 0, recorded: 0, quarantined: 0 }
  return {
    look: (): number => {
      looked += 1
      return looked
    },
    add: (found: readonly Discrepancy[]) => {
      for (const { outcome } of found) by[outcome] += 1
      total += found.length
      findings.push(...found.slice(0, FINDINGS_MAX - findings.length))
    },
    report: (): ReconcileReport => ({
      since,
      looked,
      findings,
      total,
      recorded: by.recorded,
      quarantined: by.quarantined
    })
  }
}
