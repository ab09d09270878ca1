import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { mailboxPromotionUsesSql } from './usage-limits-repository.ts'

/** Inserts redemptions that the owner does not have yet. `codes`: '' where none is needed. */
export const insertPromotionRedemptions = statement({
  name: 'pricing.insert_redemptions',
  takes: { owner: 'uuid', customer: 'text', promotion_ids: 'uuid[]', codes: 'text[]' },
  gives: { promotion_id: 'uuid', code_id: 'uuid?' },
  text: `
    insert into pricing.redemptions (owner, promotion_id, code_id, customer)
    select $owner, promotion_id, (select id from pricing.codes where codes.code = wanted.code), $customer
    from unnest($promotion_ids::uuid[], $codes::text[]) as wanted (promotion_id, code)
    order by promotion_id
    on conflict (owner, promotion_id) do nothing
    returning promotion_id, code_id`
})
/**
 * Adds one use per promotion for this customer. Returns the uses, including those of the mailbox, and the
 * limits.
 */
export const incrementCustomerPromotionUses = statement({
  name: 'pricing.add_customer_uses',
  takes: { customer: 'text', mailbox: 'text?', promotion_ids: 'uuid[]' },
  gives: { taken: 'int4', uses_per_customer: 'int4?', first_order_only: 'bool?' },
  text: `
    with counted as (
      insert into pricing.customer_uses (promotion_id, customer, taken)
      select promotion_id, $customer, 1 from unnest($promotion_ids::uuid[]) as wanted (promotion_id)
      order by promotion_id
      on conflict (promotion_id, customer) do update set taken = customer_uses.taken + 1
      returning promotion_id, taken
    )
    select taken + ${mailboxPromotionUsesSql('counted.promotion_id')} as taken, uses_per_customer, first_order_only
    from counted join pricing.promotions on promotions.id = promotion_id`
})
/** Makes the redemptions of an owner count for a mailbox. */
export const setPromotionRedemptionMailboxOfOrder = statement({
  name: 'pricing.count_redemptions_for_mailbox',
  takes: { owner: 'uuid', mailbox: 'text' },
  text: 'update pricing.redemptions set mailbox = $mailbox where owner = $owner and mailbox is null'
})
/** Returns the order that holds the customer's first order. */
export const claimFirstOrderOfCustomer = statement({
  name: 'pricing.claim_first_order',
  takes: { customer: 'text', owner: 'uuid' },
  gives: { owner: 'uuid' },
  text: `
    insert into pricing.first_orders (customer, owner) values ($customer, $owner)
    on conflict (customer) do update set owner = first_orders.owner returning owner`
})
export const deletePromotionRedemptionsOfOrder = statement({
  name: 'pricing.delete_redemptions',
  takes: { owner: 'uuid' },
  gives: { promotion_id: 'uuid', code_id: 'uuid?', customer: 'text' },
  text: 'delete from pricing.redemptions where owner = $owner returning promotion_id, code_id, customer'
})
/**
 * Subtracts one use per promotion. Deletes a counter that reaches zero, because a keyed hash must not
 * outlive its purpose.
 */
export const decrementCustomerPromotionUses = statement({
  name: 'pricing.give_customer_uses_back',
  takes: { customer: 'text', promotion_ids: 'uuid[]' },
  text: `
    with mine as (
      select promotion_id, taken from pricing.customer_uses
      where customer = $customer and promotion_id = any ($promotion_ids) order by promotion_id for update
    ), last as (
      delete from pricing.customer_uses
      using mine where customer = $customer and customer_uses.promotion_id = mine.promotion_id and mine.taken = 1
    )
    update pricing.customer_uses set taken = mine.taken - 1
    from mine
    where customer = $customer and customer_uses.promotion_id = mine.promotion_id and mine.taken <> 1`
})
export const releaseFirstOrderClaim = statement({
  name: 'pricing.give_first_order_back',
  takes: { customer: 'text', owner: 'uuid' },
  text: 'delete from pricing.first_orders where customer = $customer and owner = $owner'
})
/** Pages through redemptions, newest first. */
export const listPromotionRedemptions = statement({
  name: 'pricing.list_redemptions',
  takes: { promotion_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: { owner: 'uuid', code: 'text?', redeemed_at: 'timestamptz' },
  text: `
    select owner, codes.code, redeemed_at
    from pricing.redemptions left join pricing.codes on codes.id = code_id
    where redemptions.promotion_id = $promotion_id and owner < $after order by owner desc limit $limit`
})
export const countPromotionRedemptions = statement({
  name: 'pricing.count_redemptions',
  takes: { promotion_id: 'uuid' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('pricing.redemptions where promotion_id = $promotion_id')
})
export const isPromotionRedeemed = statement({
  name: 'pricing.is_promotion_used',
  takes: { promotion_id: 'uuid' },
  gives: { is_used: 'bool' },
  text: 'select exists (select from pricing.redemptions where promotion_id = $promotion_id) as is_used'
})
