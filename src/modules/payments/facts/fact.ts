/** How far something at a provider has got, by kind. Of one object the higher number is the later truth. */
export const RANKS = {
  /** The payment itself. */
  intent: { pending: 10, processing: 20, authorized: 30, canceled: 40, succeeded: 50 },
  /** One try of the customer to pay. */
  attempt: { requires_action: 10, failed: 20, succeeded: 30 },
  authorization: { held: 10, released: 20, expired: 30 },
  capture: { pending: 10, succeeded: 20, failed: 30 },
  /** A refund that had succeeded may fail later, when the bank sends it back. */
  refund: { pending: 10, succeeded: 20, failed: 30 },
  dispute: { open: 10, won: 20, lost: 30 }
} as const

type Ranks = typeof RANKS
export type FactKind = keyof Ranks
export type FactStatus = { [K in FactKind]: keyof Ranks[K] & string }[FactKind]

/** Something that a provider has said of an object of its own: of each object the latest truth counts. */
export type Fact = {
  readonly kind: FactKind
  /** What the provider calls it. */
  readonly objectId: string
  readonly status: FactStatus
  readonly amount: number
  readonly currency: string
  /** Until when it is held, in seconds since 1970, where that is known. */
  readonly expiresAt?: number | null | undefined
  /** Of a refund: which of our operations made it; null: none of ours, or nobody said. */
  readonly operationId?: string | null | undefined
}
export type RankedFact = Fact & { readonly rank: number }

/** @throws Error for a status that this kind does not have: that is a bug of the provider's file. */
export function ranked(fact: Fact): RankedFact {
  const rank = (RANKS[fact.kind] as Readonly<Record<string, number>>)[fact.status]
  if (rank === undefined) throw new Error(`a fact of kind ${fact.kind} is never ${fact.status}`)
  return { ...fact, rank }
}

/**
 * Whether `one` is a later truth than `other` of the same object. Of one rank the larger amount is, because amounts of one
 * object only grow; status, currency and end settle what is left, so that facts end the same in whatever order they come.
 */
function supersedes(one: RankedFact, other: RankedFact): boolean {
  if (one.rank !== other.rank) return one.rank > other.rank
  if (one.amount !== other.amount) return one.amount > other.amount
  const [text, otherText] = [`${one.status} ${one.currency}`, `${other.status} ${other.currency}`]
  return text === otherText ? (one.expiresAt ?? 0) > (other.expiresAt ?? 0) : text > otherText
}

/** Of each object the latest truth. */
export function latest(facts: readonly RankedFact[]): RankedFact[] {
  const byObject = new Map<string, RankedFact>()
  for (const fact of facts) {
    const key = JSON.stringify([fact.kind, fact.objectId])
    const known = byObject.get(key)
    if (known === undefined || supersedes(fact, known)) byObject.set(key, fact)
  }
  return [...byObject.values()]
}

/** Of what is said now, what is not known yet. */
export const unknownOf = (said: readonly Fact[], known: readonly RankedFact[]): RankedFact[] =>
  latest([...known, ...said.map(ranked)]).filter(fact => !known.includes(fact))
