drop table inventory.batches;
