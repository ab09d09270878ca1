/**
 * Keeps the log-ins of an account recent, for tests that are not about that: on a busy machine they take longer than five minutes. Call it
 * before the first request with their tokens.
 */
export const keepRecent = (
  { sql }: { sql: (text: string, values: readonly unknown[]) => Promise<unknown> },
  userId: string
) => sql(`update auth.sessions set created_at = now() + interval '1 day' where user_id = $1`, [userId])
