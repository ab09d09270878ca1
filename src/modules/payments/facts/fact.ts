/** Ranks of the statuses of each kind of fact. Of two facts of one object the higher rank is the later one. */
export const PAYMENT_FACT_STATUS_RANKS = {
  /** The payment at the provider. */
  intent: { pending: 10, processing: 20, authorized: 30, canceled: 40, succeeded: 50 },
  /** Statuses of one attempt of the customer to pay. */
  attempt: { requires_action: 10, failed: 20, succeeded: 30 },
  authorization: { held: 10, released: 20, expired: 30 },
  capture: { pending: 10, succeeded: 20, failed: 30 },
  /** A succeeded refund can fail later, when the bank returns the money. */
  refund: { pending: 10, succeeded: 20, failed: 30 },
  dispute: { open: 10, won: 20, lost: 30 }
} as const

type Ranks = typeof PAYMENT_FACT_STATUS_RANKS
export type PaymentFactKind = keyof Ranks
export type PaymentFactStatus = { [K in PaymentFactKind]: keyof Ranks[K] & string }[PaymentFactKind]

/**
 * The status of an object of a provider. Only the latest fact of each object counts.
 * @example
 * const captured: PaymentFact = {
 *   kind: 'capture', objectId: 'ch_1', status: 'succeeded', amount: 1_250, currency: 'EUR'
 * }
 */
export type PaymentFact = {
  readonly kind: PaymentFactKind
  /** The id of the object at the provider. */
  readonly objectId: string
  readonly status: PaymentFactStatus
  readonly amount: number
  readonly currency: string
  /** When the authorization expires, in seconds since 1970, if the provider states it. */
  readonly expiresAt?: number | null | undefined
  /** For a refund: the operation that requested it. Null: the shop did not request it, or the provider does not state it. */
  readonly operationId?: string | null | undefined
}
export type RankedPaymentFact = PaymentFact & { readonly rank: number }

/**
 * Creates a fact with the rank of its status. @throws Error for a status that the kind does not have, which
 * is a bug of the provider's adapter.
 */
export function addRankToPaymentFact(fact: PaymentFact): RankedPaymentFact {
  const rank = (PAYMENT_FACT_STATUS_RANKS[fact.kind] as Readonly<Record<string, number>>)[fact.status]
  if (rank === undefined) throw new Error(`a fact of kind ${fact.kind} is never ${fact.status}`)
  return { ...fact, rank }
}

/**
 * Returns whether `one` is later than `other`, both of the same object. With equal rank the larger amount is later, because
 * amounts of one object only grow. Status, currency and expiry break ties, so the result is the same in any order of arrival.
 */
function supersedes(one: RankedPaymentFact, other: RankedPaymentFact): boolean {
  if (one.rank !== other.rank) return one.rank > other.rank
  if (one.amount !== other.amount) return one.amount > other.amount
  const [text, otherText] = [`${one.status} ${one.currency}`, `${other.status} ${other.currency}`]
  return text === otherText ? (one.expiresAt ?? 0) > (other.expiresAt ?? 0) : text > otherText
}

/** Returns the latest fact of each object. */
export function latestPaymentFactOfEachObject(facts: readonly RankedPaymentFact[]): RankedPaymentFact[] {
  const byObject = new Map<string, RankedPaymentFact>()
  for (const fact of facts) {
    const key = JSON.stringify([fact.kind, fact.objectId])
    const recorded = byObject.get(key)
    if (recorded === undefined || supersedes(fact, recorded)) byObject.set(key, fact)
  }
  return [...byObject.values()]
}

/** Returns the reported facts that are later than the recorded ones. */
export const unrecordedPaymentFacts = (
  reported: readonly PaymentFact[],
  recorded: readonly RankedPaymentFact[]
): RankedPaymentFact[] =>
  latestPaymentFactOfEachObject([...recorded, ...reported.map(addRankToPaymentFact)]).filter(
    fact => !recorded.includes(fact)
  )

/** The fact that a payment was closed without a capture. The shop records it when the provider has no such payment. */
export const canceledPaymentFact = ({
  id,
  amount,
  currency
}: {
  id: string
  amount: number
  currency: string
}): PaymentFact => ({
  kind: 'intent',
  objectId: id,
  status: 'canceled',
  amount,
  currency
})
