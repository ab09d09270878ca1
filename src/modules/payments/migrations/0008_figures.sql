-- What was taken and given back in a period. Only such facts: an order that is placed writes none of them.
create index facts_money on payments.facts (seen_at)
  where kind in ('capture', 'refund') and status = 'succeeded';
