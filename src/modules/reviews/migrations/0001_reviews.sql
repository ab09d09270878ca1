create schema reviews;

create table reviews.reviews (
  id uuid not null,
  product_id uuid not null,
  customer_id uuid,                                -- null: whoever wrote it has left
  status text not null,
  rating int4 not null,
  title text,
  body text,
  author text,                                     -- as shoppers read it
  verified_purchase bool not null,
  reason text,                                     -- why it was rejected
  reply text,
  replied_at timestamptz,
  version int4 not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),   -- by its author
  constraint reviews_pkey primary key (id),
  constraint reviews_once unique (customer_id, product_id),
  constraint reviews_status check (status in ('pending', 'published', 'rejected')),
  constraint reviews_rating check (rating between 1 and 5),
  constraint reviews_reply check ((reply is null) = (replied_at is null))
);
create index reviews_of_product on reviews.reviews (product_id, status, id);
create index reviews_by_rating on reviews.reviews (product_id, rating, id) where status = 'published';
create index reviews_by_status on reviews.reviews (status, id);

-- Whose review of a product was turned down: what they write of it next is looked at first, also after they have deleted it.
create table reviews.turned_down (
  customer_id uuid not null,
  product_id uuid not null,
  constraint turned_down_pkey primary key (customer_id, product_id)
);

-- How many published reviews of a product give it so many stars. Changed by the transaction that changes the review.
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
