-- Before a start the shop counts payments that are not settled at a provider that it no longer has.
create index payments_refunding on payments.payments (provider) where refunding > 0;
