-- For those who leave: which guests they were is found without reading all of them.
create index guest_carts_merged_into on cart.guest_carts (merged_into) where merged_into is not null;
