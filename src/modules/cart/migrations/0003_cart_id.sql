-- A customer's cart has the id of the customer, a guest's one of its own: either way it is the id of a cart.
alter table cart.carts rename column customer_id to cart_id;
alter table cart.items rename column customer_id to cart_id;
