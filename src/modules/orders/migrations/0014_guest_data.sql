-- Completed or canceled guest orders whose personal data is not erased, for the setting `orders.guest_data_days`.
create index orders_guests_closed on orders.orders (updated_at)
  where customer_id is null and erased_at is null and state in ('completed', 'canceled');

-- Requests of guests to see or erase their data, each proven by a link that is sent to the address. Deleted after a day.
create table orders.data_requests (
  id uuid not null constraint data_requests_pkey primary key,
  email text not null,
  action text not null constraint data_requests_action check (action in ('export', 'erase')),
  -- Null: the link was not used to erase yet.
  used_at timestamptz,
  created_at timestamptz not null default now()
);
create index data_requests_email on orders.data_requests (lower(email));
create index data_requests_created_at on orders.data_requests (created_at);
