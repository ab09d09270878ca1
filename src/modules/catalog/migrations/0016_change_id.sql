-- The id of the last change, which each change draws at random. A failover that loses changes lets `value` repeat.
alter table catalog.revision add column change_id uuid not null default gen_random_uuid();
