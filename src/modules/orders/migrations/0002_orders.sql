-- Order numbers are a sequence, permuted with this key: short, unique, and they do not reveal the number of orders.
create sequence orders.numbers as bigint minvalue 0 maxvalue 1099511627775 start 0;
create table orders.number_key (
  is_only boolean not null default true constraint number_key_pkey primary key constraint number_key_only check (is_only),
  key bytea not null
);
-- Two random UUIDs have 244 random bits.
insert into orders.number_key (key)
  values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

-- An order is inserted before any money moves.
create table orders.orders (
  id uuid not null constraint orders_pkey primary key,
  number text not null constraint orders_number unique,
  state text not null constraint orders_state check (state in ('pending', 'placed', 'completed', 'canceled')),
  terms text not null constraint orders_terms check (terms in ('prepaid', 'on_account', 'cod')),
  -- The checkout or cart that became the order.
  checkout_id uuid,
  cart_id uuid,
  cart_version int,
  -- Null: a guest, who proves access by a token of this version.
  customer_id uuid,
  token_version int not null default 1,
  -- The key by which promotion uses and unpaid orders are counted: the customer, or a keyed hash of a guest's email address.
  buyer text not null,
  -- A keyed hash of the client network, for the same limits. Removed when the order is no longer pending.
  network text,
  email text,
  market text not null,
  currency text not null,
  -- Sums of components, so that lists need not read these.
  subtotal bigint not null,
  discount_total bigint not null,
  shipping_total bigint not null,
  tax_total bigint not null,
  tax_added bigint not null,
  cash_rounding bigint not null,
  total bigint not null constraint orders_total check (total >= 0),
  quote_hash text not null,
  shipping_address jsonb,
  billing_address jsonb,
  note text,
  -- Status of payments and lines. Null: the payments module is disabled.
  payment_status text constraint orders_payment_status
    check (payment_status in ('unpaid', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded')),
  fulfillment_status text not null constraint orders_fulfillment_status
    check (fulfillment_status in ('none', 'partial', 'fulfilled', 'partially_returned', 'returned', 'not_required')),
  is_overpaid boolean not null default false,
  is_disputed boolean not null default false,
  -- Null: the order does not expire.
  expires_at timestamptz,
  cancel_requested_at timestamptz,
  placed_at timestamptz,
  version int not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint orders_cart check ((cart_id is null) = (cart_version is null)),
  constraint orders_placed check (state not in ('placed', 'completed') or placed_at is not null)
);
-- A cart version or a checkout becomes one order. After that is canceled, it can become another one.
create unique index orders_of_cart on orders.orders (cart_id, cart_version) where state <> 'canceled';
create unique index orders_of_checkout on orders.orders (checkout_id) where state <> 'canceled';
create index orders_customer on orders.orders (customer_id, id) where customer_id is not null;
create index orders_pending_buyer on orders.orders (buyer) where state = 'pending';
create index orders_pending_network on orders.orders (network) where state = 'pending';
create index orders_expires_at on orders.orders (expires_at) where state = 'pending';

-- Delivery groups.
create table orders.groups (
  order_id uuid not null constraint groups_order references orders.orders (id),
  group_key text not null,
  method text not null constraint groups_method check (method in ('shipping', 'pickup', 'digital')),
  -- The shipping option as it was offered. Null: there was none to choose.
  option jsonb,
  constraint groups_pkey primary key (order_id, group_key)
);

-- Lines, with the product data at the time of the order.
create table orders.lines (
  order_id uuid not null,
  line int not null,
  group_key text not null,
  variant_id uuid not null,
  product_id uuid not null,
  sku text not null,
  name text not null,
  variant_name text not null,
  slug text not null,
  image_url text,
  attributes jsonb not null,
  requires_shipping boolean not null,
  weight_grams int not null,
  unit_price bigint not null,
  discounted_price bigint not null,
  ordered int not null constraint lines_ordered check (ordered > 0),
  canceled int not null default 0,
  fulfilled int not null default 0,
  returned int not null default 0,
  constraint lines_pkey primary key (order_id, line),
  constraint lines_group foreign key (order_id, group_key) references orders.groups (order_id, group_key),
  constraint lines_counters
    check (canceled >= 0 and returned >= 0 and returned <= fulfilled and canceled + fulfilled <= ordered)
);

-- The parts of the total, which is the sum of those that are not included. They never change.
create table orders.components (
  order_id uuid not null constraint components_order references orders.orders (id),
  position int not null,
  kind text not null constraint components_kind
    check (kind in ('item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding')),
  line int,
  group_key text,
  promotion_id uuid,
  -- Name of the promotion for buyers.
  title text,
  code text,
  option_id text,
  amount bigint not null,
  -- The taxed amount of a tax.
  base bigint,
  rate_ppm int,
  tax_category text,
  -- The reason of a tax exemption.
  exempt text,
  included boolean not null,
  constraint components_pkey primary key (order_id, position),
  constraint components_line foreign key (order_id, line) references orders.lines (order_id, line),
  constraint components_group foreign key (order_id, group_key) references orders.groups (order_id, group_key)
);

-- Actions on an order. Rows are appended and never changed, except that personal data is erased. The sequence makes ids unique,
-- because a constraint would have to contain `at`. No foreign key, because dropping a partition would then lock the orders.
create table orders.history (
  id bigint generated always as identity,
  order_id uuid not null,
  action text not null,
  from_state text,
  to_state text not null,
  -- Null: a guest, or the shop itself.
  actor uuid,
  reason text,
  at timestamptz not null default now()
) partition by range (at);
create index history_order_id on orders.history (order_id, id);
create table orders.history_default partition of orders.history default;
select cartwright.create_partitions('orders.history', 'year', now(), 1);
