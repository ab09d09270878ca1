import { statement } from '../../../platform/postgres/statement.ts'

export const insertBudget = statement({
  name: 'pricing.insert_budget',
  takes: { id: 'uuid', uses_max: 'int4?' },
  text: 'insert into pricing.budgets (id, uses_max) values ($id, $uses_max)'
})
/**
 * For a promotion or code that is locked; nothing when it has been used more often. Nobody counts what has no limit, so its
 * uses are counted when it gets one: who used it before has committed, and who does later finds the limit.
 */
export const limitBudget = statement({
  name: 'pricing.limit_budget',
  takes: { id: 'uuid', uses_max: 'int4?' },
  gives: { id: 'uuid' },
  text: `
    with used as (
      select case when uses_max is null
        then (select count(*)::int from pricing.redemptions where promotion_id = $id or code_id = $id)
        else taken end as taken
      from pricing.budgets where id = $id for update
    )
    update pricing.budgets set uses_max = $uses_max, taken = used.taken
    from used where budgets.id = $id and ($uses_max::int is null or used.taken <= $uses_max)
    returning budgets.id`
})
/**
 * Takes of those that have a limit, or gives back. The one that goes beyond it is refused by a constraint, with the whole
 * transaction. Everybody wants the same few rows: with the commit, and in one order.
 */
export const addUses = statement({
  name: 'pricing.add_uses',
  takes: { ids: 'uuid[]', uses: 'int4' },
  text: `
    with limited as (
      select id from pricing.budgets where id = any ($ids) and uses_max is not null order by id for update
    )
    update pricing.budgets set taken = taken + $uses from limited where budgets.id = limited.id`
})
/** SQL for the uses of a promotion that count for `$mailbox` and are not among those of `$customer`. */
export const usesOfMailbox = (promotionId: string): string => `(
      select count(*)::int from pricing.redemptions
      where redemptions.promotion_id = ${promotionId} and redemptions.mailbox = $mailbox
        and redemptions.customer is distinct from $customer
    )`
/** What is left of these promotions, how often the customer used them, and whether a first order of theirs has used any. */
export const listUses = statement({
  name: 'pricing.list_uses',
  takes: { ids: 'uuid[]', customer: 'text?', mailbox: 'text?' },
  gives: { id: 'uuid', uses_left: 'int4?', used: 'int4', has_ordered: 'bool' },
  text: `
    select budgets.id, uses_max - budgets.taken as uses_left, coalesce(customer_uses.taken, 0) + ${usesOfMailbox('budgets.id')} as used,
      exists (select from pricing.first_orders where customer = $customer) as has_ordered
    from pricing.budgets
    left join pricing.customer_uses on promotion_id = budgets.id and customer = $customer
    where budgets.id = any ($ids)`
})
