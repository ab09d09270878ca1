import type { WithoutSlot } from '../../../platform/idempotency/write.ts'

/** Where a log-in comes from. */
export type Origin = { network: string; userAgent: string | undefined; withoutSlot: WithoutSlot }

const USER_AGENT_LENGTH_MAX = 200

/** What a session keeps of the header. */
export const userAgentOf = ({ userAgent }: Origin): string | null =>
  userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
