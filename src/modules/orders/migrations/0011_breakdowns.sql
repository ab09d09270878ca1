-- What an order is made of never changes and is read as a whole: one row, instead of one for each component and 18 foreign keys
-- to look up for 5 lines.
create table orders.breakdowns (
  order_id uuid not null constraint breakdowns_pkey primary key constraint breakdowns_order references orders.orders (id),
  -- In their order, without what is null.
  components jsonb not null
);
insert into orders.breakdowns (order_id, components)
  select id, (
    select coalesce(jsonb_agg(jsonb_strip_nulls(to_jsonb(c) - 'order_id') order by position), '[]')
    from orders.components c where c.order_id = orders.id)
  from orders.orders;
drop table orders.components;

create view orders.components as
  select order_id, component.*
  from orders.breakdowns cross join jsonb_to_recordset(components) as component (
    position int, kind text, line int, group_key text, promotion_id uuid,
    -- What shoppers read of a promotion.
    title text,
    code text, option_id text, amount bigint,
    -- Of tax: what it is for.
    base bigint,
    rate_ppm int, tax_category text,
    -- Why a tax is not paid.
    exempt text,
    included boolean
  );
