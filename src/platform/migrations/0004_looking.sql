-- Who did what is asked by time, by person, by route, and by any id in the path.
drop index cartwright.audit_at;
create index audit_at on cartwright.audit (at, id);
drop index cartwright.audit_actor;
create index audit_actor on cartwright.audit (actor, at, id);
create index audit_route on cartwright.audit (route, at, id);
create index audit_params on cartwright.audit using gin (jsonb_path_query_array(params, '$.*') jsonb_path_ops);
-- A schedule is one row that stays; whatever else is in the table need not be looked through for these.
create index jobs_schedules on cartwright.jobs (handler) where id = 0;
