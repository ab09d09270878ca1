-- Administrators list products by status; few are archived, and most are active.
create index products_status on catalog.products (status, id);
