-- The id of a checkout begins with the time of its creation.
drop index orders.checkouts_created_at;
