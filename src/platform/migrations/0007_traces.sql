-- The trace that caused an event or a job: rows only with `tracing.url`, and for recorded traces. A table of its own, so that
-- without traces no row of the outbox and of the event log is longer.
create table cartwright.traces (
  -- Begins with the time of the event, by which old rows are deleted.
  event_id uuid not null constraint traces_pkey primary key,
  -- W3C Trace Context.
  traceparent text not null
);
