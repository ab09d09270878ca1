-- Each write of a checkout moves its expiry. An index of the creation stays as it is, so these writes touch no index (HOT). Free
-- space on each page takes the new version of the row.
drop index orders.checkouts_expires_at;
create index checkouts_created_at on orders.checkouts (created_at);
alter table orders.checkouts set (fillfactor = 60);
