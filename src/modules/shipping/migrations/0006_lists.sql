-- Administrators read shipments by when they were made, the newest first: all of them, or those of a status.
create index shipments_created_at on shipping.shipments (created_at, id);
create index shipments_status on shipping.shipments (status, created_at, id);
-- What was sent on a day is printed page by page.
create index shipments_sent on shipping.shipments (sent_at, id) where sent_at is not null;
drop index shipping.shipments_sent_at;
