-- The keyed hash of the mailbox for which a use counts; null: its order is not paid.
alter table pricing.redemptions add column mailbox text;
-- Keyed hashes were of mailboxes until now. An account and an erased customer are ids of 36 characters.
update pricing.redemptions set mailbox = customer where length(customer) <> 36;
create index redemptions_mailbox on pricing.redemptions (mailbox, promotion_id) where mailbox is not null;
