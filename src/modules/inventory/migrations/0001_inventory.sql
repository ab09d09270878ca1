create schema inventory;

create table inventory.items (                   -- one per known variant; id = variant id, opaque to inventory
  id uuid not null constraint items_pkey primary key,
  sku text,                                      -- latest SKU from the catalog, for CSV and lists; not unique, because deleted variants keep theirs
  tracked boolean not null default false,
  backorder text not null default 'none' constraint items_backorder check (backorder in ('none', 'limit', 'any')),
  backorder_limit int,
  low_threshold int constraint items_low_threshold check (low_threshold >= 0),
  version int not null default 1,
  updated_at timestamptz not null default now(),
  constraint items_backorder_limit check ((backorder = 'limit') = (backorder_limit is not null) and backorder_limit >= 0)
);
create index items_sku on inventory.items (sku) where sku is not null;
create index items_tracked on inventory.items (id) where tracked;   -- availability, low stock, and whether any item is tracked

create table inventory.components (              -- parts of kits; a part is never a kit (checked under an advisory lock)
  variant_id uuid not null constraint components_variant references inventory.items,
  item_id uuid not null constraint components_item references inventory.items,
  quantity int not null constraint components_quantity check (quantity between 1 and 10000),
  constraint components_pkey primary key (variant_id, item_id),
  constraint components_of_itself check (variant_id <> item_id)
);
create index components_item_id on inventory.components (item_id);

create table inventory.locations (
  id uuid not null constraint locations_pkey primary key,
  code text not null constraint locations_code unique,
  name text not null, address jsonb, priority int not null, active boolean not null default true,
  version int not null default 1, created_at timestamptz not null default now()
);
insert into inventory.locations (id, code, name, priority) values (gen_random_uuid(), 'main', 'Main', 1);

-- Only the stock writer locks and changes levels. Free space on each page lets a hot row change without an
-- index update.
create table inventory.levels (
  item_id uuid not null constraint levels_item references inventory.items,
  location_id uuid not null constraint levels_location references inventory.locations,
  on_hand int not null default 0,                -- negative when more units were shipped than counted
  reserved int not null default 0 constraint levels_reserved check (reserved >= 0),
  safety int not null default 0 constraint levels_safety check (safety >= 0),
  seq bigint not null default 0,                 -- number of the latest movement
  source_version bigint,
  constraint levels_pkey primary key (item_id, location_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index levels_location_id on inventory.levels (location_id);

create table inventory.reservations (
  owner uuid not null, item_id uuid not null, location_id uuid not null,
  quantity int not null constraint reservations_quantity check (quantity > 0),
  fulfilled int not null default 0 constraint reservations_fulfilled check (fulfilled between 0 and quantity),
  state text not null constraint reservations_state check (state in ('held', 'claimed', 'confirmed', 'closed')),
  expires_at timestamptz, closed_at timestamptz,
  constraint reservations_pkey primary key (owner, item_id, location_id),
  constraint reservations_expiry check ((state = 'held') = (expires_at is not null)),
  constraint reservations_closed_at check ((state = 'closed') = (closed_at is not null))
);
create index reservations_held on inventory.reservations (expires_at) where state = 'held';                           -- the expiry timer
create index reservations_taken on inventory.reservations (item_id, location_id) where state in ('claimed', 'confirmed'); -- orders at a short level
create index reservations_closed on inventory.reservations (closed_at) where state = 'closed';                        -- deleted after 30 days

-- Append-only. No foreign keys: the writer holds the level, and each key would cost a row lock.
create table inventory.movements (
  item_id uuid not null, location_id uuid not null, seq bigint not null,
  kind text not null constraint movements_kind check (kind in ('count', 'adjust', 'reserve', 'release', 'ship', 'return', 'repair')),
  on_hand_delta int not null, reserved_delta int not null, on_hand_after int not null, reserved_after int not null,
  allowed_after int,                             -- maximum reserved units; null: unlimited, or an operation that is never refused
  operation uuid not null, owner uuid, actor uuid, reason text, reference text,
  at timestamptz not null default now(),
  constraint movements_pkey primary key (item_id, location_id, seq),
  constraint movements_allowed check (kind <> 'reserve' or reserved_after <= allowed_after)  -- null passes
);

-- Posted in a caller's transaction; the writer applies each once, by id, in the order of `seq`.
create table inventory.requests (
  id uuid not null constraint requests_pkey primary key,
  seq bigint generated always as identity,
  kind text not null constraint requests_kind check (kind in ('release', 'ship', 'return', 'count', 'adjust')),
  owner uuid, lines jsonb not null, actor uuid, reason text,
  posted_at timestamptz not null default now(), done_at timestamptz, outcome jsonb,
  constraint requests_done check ((done_at is null) = (outcome is null))
);
create index requests_open on inventory.requests (seq) where done_at is null;
create index requests_done_at on inventory.requests (done_at) where done_at is not null;

create table inventory.batches (                 -- committed batches, to resolve a COMMIT with a lost response. Deleted after an hour.
  id uuid not null constraint batches_pkey primary key, at timestamptz not null default now()
);
