-- Who is exempt from tax, as invoices name them, and why; null: all tax is paid.
alter table orders.orders add column tax_exemption jsonb;
