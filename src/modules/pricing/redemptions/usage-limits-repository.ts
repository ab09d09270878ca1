import { statement } from '../../../platform/postgres/statement.ts'

export const insertPromotionOrCodeUsageLimit = statement({
  name: 'pricing.insert_usage_limit',
  takes: { id: 'uuid', uses_max: 'int4?' },
  text: 'insert into pricing.usage_limits (id, uses_max) values ($id, $uses_max)'
})
/**
 * Sets the usage limit of a locked promotion or code. Returns no row when more uses exist than the limit.
 * Without a limit, uses are not counted, so this statement counts the redemptions: earlier redemptions have
 * committed, later ones wait for the lock.
 */
export const setPromotionOrCodeUsageLimit = statement({
  name: 'pricing.set_usage_limit',
  takes: { id: 'uuid', uses_max: 'int4?' },
  gives: { id: 'uuid' },
  text: `
    with used as (
      select case when uses_max is null
        then (select count(*)::int from pricing.redemptions where promotion_id = $id or code_id = $id)
        else taken end as taken
      from pricing.usage_limits where id = $id for update
    )
    update pricing.usage_limits set uses_max = $uses_max, taken = used.taken
    from used where usage_limits.id = $id and ($uses_max::int is null or used.taken <= $uses_max)
    returning usage_limits.id`
})
/**
 * Adds or releases uses of limited promotions and codes. A constraint rejects the transaction that exceeds
 * a limit. Runs with the commit and in id order, because many transactions update the same rows.
 */
export const addLimitedPromotionUses = statement({
  name: 'pricing.add_uses',
  takes: { ids: 'uuid[]', uses: 'int4' },
  text: `
    with limited as (
      select id from pricing.usage_limits where id = any ($ids) and uses_max is not null order by id for update
    )
    update pricing.usage_limits set taken = taken + $uses from limited where usage_limits.id = limited.id`
})
/** SQL for the uses of a promotion that count for `$mailbox` and are not among those of `$customer`. */
export const mailboxPromotionUsesSql = (promotionId: string): string => `(
      select count(*)::int from pricing.redemptions
      where redemptions.promotion_id = ${promotionId} and redemptions.mailbox = $mailbox
        and redemptions.customer is distinct from $customer
    )`
/**
 * Lists the remaining uses of these promotions, the customer's uses, and whether the customer used a
 * first-order promotion.
 */
export const listRemainingAndCustomerPromotionUses = statement({
  name: 'pricing.list_uses',
  takes: { ids: 'uuid[]', customer: 'text?', mailbox: 'text?' },
  gives: { id: 'uuid', uses_left: 'int4?', used: 'int4', has_ordered: 'bool' },
  text: `
    select usage_limits.id, uses_max - usage_limits.taken as uses_left, coalesce(customer_uses.taken, 0) + ${mailboxPromotionUsesSql('usage_limits.id')} as used,
      exists (select from pricing.first_orders where customer = $customer) as has_ordered
    from pricing.usage_limits
    left join pricing.customer_uses on promotion_id = usage_limits.id and customer = $customer
    where usage_limits.id = any ($ids)`
})
