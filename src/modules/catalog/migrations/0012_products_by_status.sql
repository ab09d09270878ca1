-- Administrators list products by status. Without the index, lists of rare statuses would read all products.
create index products_status on catalog.products (status, id);
