import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'

/** Network and user agent of a login. */
export type SessionOrigin = {
  network: string
  userAgent: string | undefined
  withoutSlot: RunWithoutRequestSlot
}

const USER_AGENT_LENGTH_MAX = 200

/** Returns the user agent that a session stores. */
export const storedUserAgentOf = ({ userAgent }: SessionOrigin): string | null =>
  userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null
