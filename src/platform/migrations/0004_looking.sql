-- The audit log is searched by time, by administrator, by route, and by any id in the path.
drop index cartwright.audit_at;
create index audit_at on cartwright.audit (at, id);
drop index cartwright.audit_actor;
create index audit_actor on cartwright.audit (actor, at, id);
create index audit_route on cartwright.audit (route, at, id);
create index audit_params on cartwright.audit using gin (jsonb_path_query_array(params, '$.*') jsonb_path_ops);
-- Schedules are found without a scan of all other rows.
create index jobs_schedules on cartwright.jobs (handler) where id = 0;
