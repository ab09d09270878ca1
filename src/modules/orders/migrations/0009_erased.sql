-- When the personal data of the order was erased.
alter table orders.orders add column erased_at timestamptz;
update orders.orders set erased_at = told.at
from (select order_id, min(at) as at from orders.history where action = 'erase' group by order_id) as told
where told.order_id = orders.id;
