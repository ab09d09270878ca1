import { countUpTo } from '../postgres/counting.ts'
import { type RowOf, statement } from '../postgres/statement.ts'

/** Columns of inserted rows. With a lease the row was claimed for this process as it was inserted. */
export const INSERTED_JOB_COLUMNS = {
  id: 'int8',
  handler: 'text',
  event_id: 'uuid',
  since: 'timestamptz',
  lease: 'uuid?'
} as const
/**
 * The lease of a new row, which belongs to the row named `job`. Null while an earlier row of its subject is left, because that
 * is handled first.
 */
export const leaseOfNewJobSql = `cross join lateral (
      select case when not exists (
        select from cartwright.jobs earlier where earlier.subject = job.subject and earlier.handler = job.handler
      ) then nullif(job.wanted_lease, '')::uuid end as lease
    ) own`
/** `lease`, `attempts` and `due_at` of a new row with `own.lease`; `delay`: its delay in seconds. */
export const claimOfNewJobSql = (delay: string) => `own.lease, (own.lease is not null)::int,
      case when own.lease is null then now() + make_interval(secs => ${delay})
        else clock_timestamp() + make_interval(secs => $leaseSeconds) end`

/** Inserts a single row without a delay: a third cheaper than `insertJobs`. It is sent with the commit. */
export const insertJobDueNow = statement({
  name: 'outbox.insert_job',
  takes: {
    handler: 'text',
    subject: 'uuid',
    eventId: 'uuid',
    payload: 'text',
    wantedLease: 'text',
    leaseSeconds: 'float8'
  },
  gives: INSERTED_JOB_COLUMNS,
  text: `
    insert into cartwright.jobs (handler, subject, event_id, payload, lease, attempts, due_at)
    select job.handler, job.subject, $eventId, $payload::text::jsonb, ${claimOfNewJobSql('0')}
    from (select $handler::text as handler, $subject::uuid as subject, $wantedLease::text as wanted_lease) job
      ${leaseOfNewJobSql}
    returning id, handler, event_id, since, lease`
})
/** Inserts all rows of a transaction. Their times are a millisecond apart, so that times show the order of events. */
export const insertJobs = statement({
  name: 'outbox.insert_jobs',
  takes: {
    handlers: 'text[]',
    subjects: 'uuid[]',
    eventIds: 'uuid[]',
    payloads: 'text[]',
    delays: 'float8[]',
    positions: 'float8[]',
    wantedLeases: 'text[]',
    leaseSeconds: 'float8'
  },
  gives: INSERTED_JOB_COLUMNS,
  text: `
    insert into cartwright.jobs (handler, subject, event_id, payload, since, lease, attempts, due_at)
    select job.handler, job.subject, event_id, payload::jsonb, now() + make_interval(secs => delay + position / 1000),
      ${claimOfNewJobSql('delay')}
    from unnest($handlers::text[], $subjects::uuid[], $eventIds::uuid[], $payloads::text[], $delays::float8[],
        $positions::float8[], $wantedLeases::text[])
      as job (handler, subject, event_id, payload, delay, position, wanted_lease)
      ${leaseOfNewJobSql}
    returning id, handler, event_id, since, lease`
})
/**
 * Claims due rows, only the oldest of each subject. Joins by `ctid`, because joined by key the generic plan scanned the whole
 * table (18 ms; this takes 1.5 ms for 200 rows). A row that changed since the snapshot is locked but not updated, and is
 * claimed next time. A schedule is never dead: one that is taken over repeatedly may crash its process, so its lease grows
 * each time, up to 8 minutes.
 */
export const claimJobs = statement({
  name: 'outbox.claim',
  takes: { handler: 'text', limit: 'int8', lease: 'uuid', seconds: 'float8' },
  gives: {
    id: 'int8',
    subject: 'uuid',
    event_id: 'uuid',
    payload: 'jsonb',
    attempts: 'int4',
    since: 'timestamptz',
    log_id: 'int8?',
    has_failed: 'bool',
    was_abandoned: 'bool',
    has_later: 'bool'
  },
  text: `
    update cartwright.jobs set
      lease = $lease, attempts = attempts + 1,
      due_at = now() + make_interval(secs => $seconds::float8 *
        case when id = 0 and error is null then 2 ^ least(greatest(attempts - 1, 0), 5) else 1 end)
    where ctid = any (array(
      select job.ctid from cartwright.jobs job
      where job.handler = $handler and job.due_at <= now()
        and job.id = (
          select earlier.id from cartwright.jobs earlier
          where earlier.subject = job.subject and earlier.handler = job.handler order by earlier.id limit 1
        )
      order by job.due_at, job.id limit $limit
      for update of job skip locked
    ))
    returning id, subject, event_id, payload, attempts, since, log_id, error is not null as has_failed,
      attempts > 1 and error is null as was_abandoned,
      exists (
        select from cartwright.jobs later
        where later.subject = jobs.subject and later.handler = jobs.handler and later.id > jobs.id
      ) as has_later`
})
export type ClaimedJob = RowOf<typeof claimJobs>

/** Never shortens the longer lease of a schedule. Locked rows are skipped, because another statement finishes or releases them. */
export const renewJobLeases = statement({
  name: 'outbox.renew',
  takes: { handlers: 'text[]', subjects: 'uuid[]', ids: 'int8[]', leases: 'uuid[]', seconds: 'float8' },
  gives: { lease: 'uuid?' },
  text: `
    update cartwright.jobs set
      due_at = greatest(case when id = 0 then due_at end, now() + make_interval(secs => $seconds::float8))
    where ctid = any (array(
      select job.ctid
      from unnest($handlers::text[], $subjects::uuid[], $ids::int8[], $leases::uuid[]) as mine (handler, subject, id, lease)
      join cartwright.jobs job using (handler, subject, id, lease)
      for update of job skip locked
    ))
    returning lease`
})
/** Deletes fewer rows than were claimed when another process claimed some, or some were discarded. */
export const finishClaimedJobs = statement({
  name: 'outbox.finish',
  takes: { handler: 'text', subjects: 'uuid[]', ids: 'int8[]', lease: 'uuid' },
  text: `
    delete from cartwright.jobs using unnest($subjects::uuid[], $ids::int8[]) as mine (subject, id)
    where jobs.subject = mine.subject and jobs.handler = $handler and jobs.id = mine.id and jobs.lease = $lease`
})
/** Sets the next run of a schedule. */
export const planNextRun = statement({
  name: 'outbox.finish_run',
  takes: { handler: 'text', subject: 'uuid', eventId: 'uuid', intervalSeconds: 'float8', lease: 'uuid' },
  text: `
    update cartwright.jobs set
      event_id = $eventId, attempts = 0, lease = null, error = null,
      since = now() + make_interval(secs => $intervalSeconds::float8),
      due_at = now() + make_interval(secs => $intervalSeconds::float8)
    where subject = $subject and handler = $handler and id = 0 and lease = $lease`
})
/** Plans the first run of each recurring job after its delay, unless it is planned already. */
export const insertMissingSchedules = statement({
  name: 'outbox.ensure_schedules',
  takes: { handlers: 'text[]', subjects: 'uuid[]', eventIds: 'uuid[]', delaysSeconds: 'float8[]' },
  text: `
    insert into cartwright.jobs (id, handler, subject, event_id, payload, since, due_at)
    select 0, handler, subject, event_id, '{}', now() + delay, now() + delay
    from unnest($handlers::text[], $subjects::uuid[], $eventIds::uuid[], $delaysSeconds::float8[])
      as schedules (handler, subject, event_id, seconds), make_interval(secs => seconds) as delay
    on conflict (subject, handler, id) do nothing`
})
export const countSchedules = statement({
  name: 'outbox.count_schedules',
  takes: { handlers: 'text[]', subjects: 'uuid[]' },
  gives: { total: 'int8' },
  text: `
    select count(*) as total
    from unnest($handlers::text[], $subjects::uuid[]) as schedules (handler, subject)
      join cartwright.jobs on jobs.subject = schedules.subject and jobs.handler = schedules.handler and jobs.id = 0`
})

/** Delays the next attempt, or marks the row dead without a delay. Later rows of its subject wait as long, so they stay in order. */
export const recordJobFailure = statement({
  name: 'outbox.fail',
  takes: {
    handler: 'text',
    subject: 'uuid',
    id: 'int8',
    lease: 'uuid',
    error: 'text',
    delaySeconds: 'float8?'
  },
  text: `
    with failed as (
      update cartwright.jobs set lease = null, error = $error,
        due_at = coalesce(now() + make_interval(secs => $delaySeconds::float8), 'infinity')
      where subject = $subject and handler = $handler and id = $id and lease = $lease
      returning subject, handler, id, due_at
    )
    update cartwright.jobs later set due_at = failed.due_at from failed
    where later.subject = failed.subject and later.handler = failed.handler
      and later.id > failed.id and later.due_at < failed.due_at`
})
/** Makes rows due that waited for a failed row of their subject. Rows planned for later stay planned. */
export const makeJobsBehindFailedDue = statement({
  name: 'outbox.wake_behind',
  takes: { handler: 'text', subject: 'uuid' },
  text: `
    update cartwright.jobs set due_at = greatest(since, now())
    where subject = $subject and handler = $handler and lease is null and error is null and due_at > now()`
})
/** Releases claimed rows that were not attempted, and does not count an attempt. */
export const releaseJobs = statement({
  name: 'outbox.give_back',
  takes: { handler: 'text', subjects: 'uuid[]', ids: 'int8[]', lease: 'uuid', delaySeconds: 'float8' },
  text: `
    update cartwright.jobs set
      lease = null, attempts = attempts - 1, due_at = now() + make_interval(secs => $delaySeconds::float8)
    from unnest($subjects::uuid[], $ids::int8[]) as mine (subject, id)
    where jobs.subject = mine.subject and jobs.handler = $handler and jobs.id = mine.id and jobs.lease = $lease`
})
/** `is_schedule`: nothing is due but the row of a recurring job whose last run succeeded. */
export const findHandlersWithDueJobs = statement({
  name: 'outbox.find_due',
  takes: { handlers: 'text[]' },
  gives: { handler: 'text', is_schedule: 'bool' },
  text: `
    select handler, is_schedule
    from unnest($handlers::text[]) as known (handler) cross join lateral (
      select bool_and(id = 0 and attempts = 0 and error is null) as is_schedule from (
        select id, attempts, error from cartwright.jobs
        where jobs.handler = known.handler and jobs.due_at <= now() limit 2
      ) due
    ) found
    where is_schedule is not null`
})

const JOB_COLUMNS = {
  id: 'int8',
  handler: 'text',
  subject: 'uuid',
  event_id: 'uuid',
  payload: 'jsonb',
  attempts: 'int4',
  error: 'text?',
  since: 'timestamptz',
  due_at: 'timestamptz?'
} as const

/** Lists failed rows, the oldest first: the dead ones, or those that will be retried. */
export const listFailedJobs = statement({
  name: 'outbox.list_failed',
  takes: { dead: 'bool', handler: 'text?', after: 'int8', afterEvent: 'uuid', limit: 'int8' },
  gives: JOB_COLUMNS,
  text: `
    select id, handler, subject, event_id, payload, attempts, error, since,
      case when due_at < 'infinity' then due_at end as due_at
    from cartwright.jobs
    where error is not null and (due_at = 'infinity') = $dead and (id, event_id) > ($after, $afterEvent)
      and ($handler::text is null or handler = $handler)
    order by id, event_id limit $limit`
})
export const countFailedJobs = statement({
  name: 'outbox.count_failed',
  takes: { dead: 'bool', handler: 'text?' },
  gives: { total: 'int8' },
  text: `
    select count(*) as total from cartwright.jobs
    where error is not null and (due_at = 'infinity') = $dead and ($handler::text is null or handler = $handler)`
})
/** Lists rows that did not fail, the oldest first, including schedules, planned rows and rows that wait for a dead one. */
export const listPendingJobs = statement({
  name: 'outbox.list_pending',
  slow: true,
  takes: { handler: 'text?', after: 'int8', afterEvent: 'uuid', limit: 'int8' },
  gives: JOB_COLUMNS,
  text: `
    select id, handler, subject, event_id, payload, attempts, error, since,
      case when due_at < 'infinity' then due_at end as due_at
    from cartwright.jobs
    where error is null and (id, event_id) > ($after, $afterEvent) and ($handler::text is null or handler = $handler)
    order by id, event_id limit $limit`
})
export const countPendingJobs = statement({
  name: 'outbox.count_pending',
  slow: true,
  takes: { handler: 'text?' },
  gives: { total: 'int4' },
  text: countUpTo('cartwright.jobs where error is null and ($handler::text is null or handler = $handler)')
})
export const retryFailedJob = statement({
  name: 'outbox.retry',
  takes: { id: 'int8' },
  gives: { handler: 'text' },
  text: `
    update cartwright.jobs set due_at = now(), attempts = 0
    where id = $id and id > 0 and error is not null and lease is null
    returning handler`
})
/** Deletes a row. A process that is handling it finds its lease gone and rolls back. */
export const deleteJob = statement({
  name: 'outbox.discard',
  takes: { id: 'int8' },
  gives: { handler: 'text', subject: 'uuid' },
  text: 'delete from cartwright.jobs where id = $id and id > 0 returning handler, subject'
})
