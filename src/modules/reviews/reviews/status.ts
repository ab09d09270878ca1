export const STATUSES = ['pending', 'published', 'rejected'] as const
export type Status = (typeof STATUSES)[number]
export type Decision = 'publish' | 'reject'

/** What becomes of a review by what an administrator decides. */
export const NEXT: Readonly<Record<Status, Readonly<Partial<Record<Decision, Status>>>>> = {
  pending: { publish: 'published', reject: 'rejected' },
  published: { reject: 'rejected' },
  rejected: { publish: 'published' }
}

type Rules = {
  readonly moderation: 'none' | 'before'
  /** A review by this customer of this product was turned down, and none was published since. */
  readonly wasTurnedDown: boolean
}
/**
 * What a review is when its author has written or changed it; `before`: null for a new one. Nobody publishes by
 * writing anew what was turned down, nor what is waiting.
 */
export function statusOfWritten(before: Status | null, { moderation, wasTurnedDown }: Rules): Status {
  const isDecidedFirst = moderation === 'before' || wasTurnedDown || before === 'pending'
  return isDecidedFirst ? 'pending' : 'published'
}
