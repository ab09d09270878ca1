import { statement } from '../postgres/statement.ts'

/**
 * Lets one process measure the backlog, as long as its connection lasts. PostgreSQL counts how often a session gets the same
 * lock, and releases all at its end.
 */
export const tryLockBacklogMeasurement = statement({
  name: 'outbox.lock_measurement',
  gives: { is_mine: 'bool' },
  text: `select pg_try_advisory_lock(hashtextextended('outbox.measure', 0)) as is_mine`
})
/** Counts pending and dead rows and measures the age of the oldest, without rows planned for later. */
export const measureOutboxBacklog = statement({
  name: 'outbox.measure',
  gives: { pending: 'int8', dead: 'int8', oldest_seconds: 'float8' },
  text: `
    select count(*) filter (where not is_dead) as pending, count(*) filter (where is_dead) as dead,
      coalesce(extract(epoch from now() - min(since) filter (where not is_dead)), 0)::float8 as oldest_seconds
    from (
      select since, due_at = 'infinity' and error is not null as is_dead from cartwright.jobs
      where since <= now() and id > 0
    ) waiting`
})
/** Postpones rows that were inserted after an earlier row of their subject failed. */
export const postponeJobsBehindFailed = statement({
  name: 'outbox.put_off',
  text: `
    update cartwright.jobs later set due_at = failed.due_at from cartwright.jobs failed
    where failed.error is not null and failed.lease is null and failed.due_at > now()
      and later.subject = failed.subject and later.handler = failed.handler
      and later.id > failed.id and later.due_at <= now()`
})
