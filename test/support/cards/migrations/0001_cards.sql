create schema cards;

create table cards.cards (
  id uuid not null constraint cards_pkey primary key,
  code text not null constraint cards_code unique,
  currency text not null,
  issued bigint not null,
  balance bigint not null constraint cards_balance check (balance >= 0)
);
-- Amounts that orders reserved or took. The balance is lower by those that were confirmed.
create table cards.uses (
  id uuid not null constraint uses_pkey primary key,
  card_id uuid not null references cards.cards (id),
  amount bigint not null,
  is_confirmed boolean not null default false,
  expires_at timestamptz not null
);
create index uses_card_id on cards.uses (card_id);
create table cards.refunds (
  id uuid not null constraint refunds_pkey primary key,
  use_id uuid not null references cards.uses (id),
  amount bigint not null
);
