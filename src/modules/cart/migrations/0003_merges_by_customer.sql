-- Erasing a customer finds the guest carts that were merged into theirs without reading all of them.
create index guest_carts_merged_into on cart.guest_carts (merged_into) where merged_into is not null;
