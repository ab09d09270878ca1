-- Each key is updated twice within its request, and no indexed column changes. Free space on each page lets these updates touch no
-- index (HOT).
alter table cartwright.idempotency_keys set (fillfactor = 60);
