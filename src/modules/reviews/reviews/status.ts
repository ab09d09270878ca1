export const REVIEW_STATUSES = ['pending', 'published', 'rejected'] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]
export type ReviewDecision = 'publish' | 'reject'

/** The status of a review after the decision of an administrator. */
export const REVIEW_STATUS_TRANSITIONS: Readonly<
  Record<ReviewStatus, Readonly<Partial<Record<ReviewDecision, ReviewStatus>>>>
> = {
  pending: { publish: 'published', reject: 'rejected' },
  published: { reject: 'rejected' },
  rejected: { publish: 'published' }
}

type ModerationRules = {
  readonly moderation: 'none' | 'before'
  /**
   * Whether an administrator rejected or deleted a review of this product by this customer, and published
   * none since.
   */
  readonly wasRejected: boolean
}
/**
 * Returns the status of a review that its author wrote or changed. `before`: its earlier status, null for a
 * new review. Changing a rejected or pending review never publishes it.
 */
export function reviewStatusAfterWrite(
  before: ReviewStatus | null,
  { moderation, wasRejected }: ModerationRules
): ReviewStatus {
  const needsApproval = moderation === 'before' || wasRejected || before === 'pending'
  return needsApproval ? 'pending' : 'published'
}
