-- The exempt company for invoices, and the reason. Null: no tax is exempt.
alter table orders.orders add column tax_exemption jsonb;
