-- Sums of captures and refunds by period. Partial, so that placing an order does not write to it.
create index facts_money on payments.facts (seen_at)
  where kind in ('capture', 'refund') and status = 'succeeded';
