-- Administrators list shipments newest first, all of them or by status.
create index shipments_created_at on shipping.shipments (created_at, id);
create index shipments_status on shipping.shipments (status, created_at, id);
-- Packing slips of a day are printed in pages.
create index shipments_sent on shipping.shipments (sent_at, id) where sent_at is not null;
drop index shipping.shipments_sent_at;
