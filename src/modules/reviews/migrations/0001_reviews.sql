create schema reviews;

create table reviews.reviews (
  id uuid not null,
  product_id uuid not null,
  customer_id uuid,                                -- null: the author deleted the account
  status text not null,
  rating int4 not null,
  title text,
  body text,
  author text,                                     -- public name of the author
  verified_purchase bool not null,
  reason text,                                     -- why the review was rejected
  reply text,
  replied_at timestamptz,
  version int4 not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),   -- last change by the author
  constraint reviews_pkey primary key (id),
  constraint reviews_once unique (customer_id, product_id),
  constraint reviews_status check (status in ('pending', 'published', 'rejected')),
  constraint reviews_rating check (rating between 1 and 5),
  constraint reviews_reply check ((reply is null) = (replied_at is null))
);
create index reviews_of_product on reviews.reviews (product_id, status, id);
create index reviews_by_rating on reviews.reviews (product_id, rating, id) where status = 'published';
create index reviews_by_status on reviews.reviews (status, id);

-- Customers whose review of a product was rejected or deleted by an administrator. Their next review of the
-- product waits for approval, also after they have deleted the rejected one.
create table reviews.turned_down (
  customer_id uuid not null,
  product_id uuid not null,
  constraint turned_down_pkey primary key (customer_id, product_id)
);

-- The number of published reviews of a product per number of stars. The transaction that changes a review
-- updates it.
create table reviews.ratings (
  product_id uuid not null,
  stars_1 int4 not null,
  stars_2 int4 not null,
  stars_3 int4 not null,
  stars_4 int4 not null,
  stars_5 int4 not null,
  constraint ratings_pkey primary key (product_id),
  constraint ratings_counts check (least(stars_1, stars_2, stars_3, stars_4, stars_5) >= 0)
);
