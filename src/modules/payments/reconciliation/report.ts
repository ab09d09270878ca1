/** An object or fact of a provider that the shop has not recorded. */
export type PaymentReconciliationFinding = {
  readonly provider: string
  /**
   * `payment_unknown`: the object names an order of the shop whose payment is not stored.
   * `object_unreadable`: the object cannot be parsed.
   */
  readonly kind: 'fact_missing' | 'payment_unknown' | 'object_unreadable'
  /** The id at the provider of the payment, or of the unreadable object. */
  readonly objectId: string
  readonly paymentId: string | null
  readonly orderId: string | null
  readonly detail: string
  /** `quarantined`: the fact contradicts the payment, and an administrator decides. */
  readonly outcome: 'found' | 'recorded' | 'quarantined'
}

/** Result of a reconciliation. `findings` holds the first thousand. */
export type PaymentReconciliationReport = {
  readonly since: Date
  /** Number of payments, refunds and disputes that were compared. */
  readonly looked: number
  readonly findings: readonly PaymentReconciliationFinding[]
  readonly total: number
  readonly recorded: number
  readonly quarantined: number
}

const FINDINGS_MAX = 1_000

/** Counts all findings and keeps the first thousand. */
export function createPaymentReconciliationReportBuilder(since: Date) {
  const findings: PaymentReconciliationFinding[] = []
  let [looked, total] = [0, 0]
  const by = { found: 0, recorded: 0, quarantined: 0 }
  return {
    look: (): number => {
      looked += 1
      return looked
    },
    add: (found: readonly PaymentReconciliationFinding[]) => {
      for (const { outcome } of found) by[outcome] += 1
      total += found.length
      findings.push(...found.slice(0, FINDINGS_MAX - findings.length))
    },
    report: (): PaymentReconciliationReport => ({
      since,
      looked,
      findings,
      total,
      recorded: by.recorded,
      quarantined: by.quarantined
    })
  }
}
