import { type RowOf, statement } from '../postgres/statement.ts'

/** Counts of pending, failing and dead rows by handler, without rows planned for later. */
export const summarizeHandlerBacklogs = statement({
  name: 'outbox.summarize',
  slow: true,
  gives: {
    handler: 'text',
    pending: 'int8',
    failing: 'int8',
    dead: 'int8',
    oldest_seconds: 'float8',
    latest_error: 'text?'
  },
  text: `
    select handler, count(*) filter (where error is null) as pending,
      count(*) filter (where error is not null and not is_dead) as failing,
      count(*) filter (where is_dead) as dead,
      coalesce(extract(epoch from now() - min(since) filter (where not is_dead)), 0)::float8 as oldest_seconds,
      (array_agg(error order by id desc) filter (where error is not null))[1] as latest_error
    from (
      select handler, id, since, error, due_at = 'infinity' and error is not null as is_dead from cartwright.jobs
      where since <= now() and id > 0
    ) waiting
    group by handler order by handler`
})
export type HandlerBacklogRow = RowOf<typeof summarizeHandlerBacklogs>

export const listJobSchedules = statement({
  name: 'outbox.list_schedules',
  gives: {
    handler: 'text',
    due_at: 'timestamptz?',
    is_running: 'bool',
    attempts: 'int4',
    error: 'text?'
  },
  text: `
    select handler, case when due_at < 'infinity' then due_at end as due_at, lease is not null and due_at > now() as is_running,
      attempts, error
    from cartwright.jobs where id = 0 order by handler`
})
export type JobScheduleRow = RowOf<typeof listJobSchedules>

/** Up to `limit` dead rows, the oldest first, of one handler or of all. Rows locked by another administrator are skipped. */
const lockDeadJobs = `
  select ctid from cartwright.jobs
  where error is not null and due_at = 'infinity' and id > 0 and ($handler::text is null or handler = $handler)
  order by id limit $limit for update skip locked`

export const retryDeadJobs = statement({
  name: 'outbox.retry_dead',
  takes: { handler: 'text?', limit: 'int8' },
  gives: { handler: 'text' },
  text: `
    update cartwright.jobs set due_at = now(), attempts = 0 where ctid = any (array(${lockDeadJobs})) returning handler`
})
/** Also makes rows behind the deleted ones due. */
export const deleteDeadJobs = statement({
  name: 'outbox.discard_dead',
  takes: { handler: 'text?', limit: 'int8' },
  gives: { handler: 'text' },
  text: `
    with gone as (
      delete from cartwright.jobs where ctid = any (array(${lockDeadJobs})) returning handler, subject
    ), woken as (
      update cartwright.jobs later set due_at = greatest(later.since, now())
      from (select distinct handler, subject from gone) first
      where later.subject = first.subject and later.handler = first.handler
        and later.lease is null and later.error is null and later.due_at > now()
    )
    select handler from gone`
})
