import type { PaymentFact } from 'cartwright'

/** A payment as Acme Pay returns it. */
export type AcmePayment = {
  readonly id: string
  /** The id of the payment in the shop. */
  readonly reference: string
  readonly status: 'needs_action' | 'authorized' | 'captured' | 'voided'
  readonly amount: number
  readonly captured: number
  readonly currency: string
  /** Where the customer confirms the payment. Null: the customer has nothing to do. */
  readonly page: string | null
  readonly refunds: readonly { readonly id: string; readonly key: string; readonly amount: number }[]
}

const INTENT = {
  needs_action: 'pending',
  authorized: 'authorized',
  captured: 'succeeded',
  voided: 'canceled'
} as const

/** Checks what was received as far as the shop reads it. */
export function isAcmePayment(value: unknown): value is AcmePayment {
  const { id, reference, status, amount, captured, currency, refunds } = (value ?? {}) as Record<
    string,
    unknown
  >
  return (
    [id, reference, currency].every(each => typeof each === 'string') &&
    [amount, captured].every(Number.isSafeInteger) &&
    Object.keys(INTENT).includes(String(status)) &&
    Array.isArray(refunds)
  )
}

/** Returns what the payment states. The shop records each fact once, in whatever order facts arrive. */
export function factsOf({
  id: objectId,
  status,
  amount,
  captured,
  currency,
  refunds
}: AcmePayment): PaymentFact[] {
  const of = { objectId, currency }
  return [
    { ...of, kind: 'intent', status: INTENT[status], amount },
    ...(status === 'needs_action'
      ? [{ ...of, kind: 'attempt', status: 'requires_action', amount } as const]
      : []),
    ...(status === 'authorized' ? [{ ...of, kind: 'authorization', status: 'held', amount } as const] : []),
    ...(status === 'captured'
      ? ([
          { ...of, kind: 'authorization', status: 'released', amount },
          { ...of, kind: 'capture', status: 'succeeded', amount: captured }
        ] as const)
      : []),
    ...refunds.map(
      ({ id, key, amount }) =>
        ({ kind: 'refund', objectId: id, status: 'succeeded', amount, currency, operationId: key }) as const
    )
  ]
}
