-- Answers of a tax engine, so that the price that a buyer saw stays the price of the order for some minutes.
create table pricing.tax_answers (
  -- Hash of the engine's name and the request: market, currency, amounts and places of taxation.
  request bytea not null,
  -- Rate and tax of each component. Null: the engine failed, and the rates of the shop apply.
  taxes jsonb,
  expires_at timestamptz not null,
  constraint tax_answers_pkey primary key (request)
);
create index tax_answers_expires_at on pricing.tax_answers (expires_at);
