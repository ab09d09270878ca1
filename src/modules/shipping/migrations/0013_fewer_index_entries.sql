-- Unshipped shipments are pending, so the index of the status lists them, oldest first.
drop index shipping.shipments_waiting;
