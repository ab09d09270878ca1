create schema gift_cards;

create table gift_cards.cards (
  id uuid not null constraint cards_pkey primary key,
  -- A keyed hash. The code itself is in the mail to the buyer only.
  code_hash text not null constraint cards_code_hash unique,
  -- The code, encrypted, until the mail with it is sent.
  sealed_code bytea,
  label text not null,
  currency text not null,
  balance bigint not null constraint cards_balance check (balance >= 0),
  order_id uuid not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index cards_order on gift_cards.cards (order_id);
create index cards_expiring on gift_cards.cards (expires_at) where balance > 0;

-- Every change of a balance. The entries of a card add up to its balance. The id of an entry is that of its cause: the card,
-- the tender, the refund. So a repeated call changes nothing.
create table gift_cards.entries (
  id uuid not null constraint entries_pkey primary key,
  card_id uuid not null constraint entries_card references gift_cards.cards (id),
  kind text not null constraint entries_kind check (kind in ('issued', 'redeemed', 'refunded', 'expired', 'voided')),
  amount bigint not null,
  created_at timestamptz not null default now()
);
create index entries_card on gift_cards.entries (card_id, created_at);

-- Amounts that an order is about to take.
create table gift_cards.reservations (
  id uuid not null constraint reservations_pkey primary key,
  card_id uuid not null constraint reservations_card references gift_cards.cards (id),
  amount bigint not null constraint reservations_amount check (amount > 0),
  expires_at timestamptz not null
);
create index reservations_card on gift_cards.reservations (card_id);
