-- The keyed hash of the mailbox that a use counts for; null: the order is unpaid.
alter table pricing.redemptions add column mailbox text;
-- Keyed hashes were of mailboxes until now. An account and an erased customer are ids of 36 characters.
update pricing.redemptions set mailbox = customer where length(customer) <> 36;
create index redemptions_mailbox on pricing.redemptions (mailbox, promotion_id) where mailbox is not null;
