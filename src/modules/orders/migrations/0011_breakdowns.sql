-- Components never change and are read as a whole. One row replaces a row per component, and 18 foreign-key look-ups for an
-- order of 5 lines.
create table orders.breakdowns (
  order_id uuid not null constraint breakdowns_pkey primary key constraint breakdowns_order references orders.orders (id),
  -- In sequence, without null fields.
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
    -- Name of the promotion for buyers.
    title text,
    code text, option_id text, amount bigint,
    -- The taxed amount of a tax.
    base bigint,
    rate_ppm int, tax_category text,
    -- The reason of a tax exemption.
    exempt text,
    included boolean
  );
