import { statement } from '../../../platform/postgres/statement.ts'

export const deleteCustomerTaxExemptions = statement({
  name: 'pricing.delete_tax_exemptions_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from pricing.exemptions where customer_id = $customer_id'
})
/** Anonymizes redemptions: their count stays, and the order id replaces the customer. */
export const anonymizeCustomerPromotionRedemptions = statement({
  name: 'pricing.erase_redemptions_of_customer',
  takes: { customer: 'text' },
  text: 'update pricing.redemptions set customer = owner::text, mailbox = null where customer = $customer'
})
/** Anonymizes the redemptions of these orders only. */
export const anonymizeOrderPromotionRedemptions = statement({
  name: 'pricing.erase_redemptions_of_orders',
  takes: { owners: 'uuid[]' },
  text: 'update pricing.redemptions set customer = owner::text, mailbox = null where owner = any ($owners)'
})
/** Deletes the counted promotion uses of the buyers of these orders. Runs before the redemptions are
 * anonymized, because they name the customer. */
export const deletePromotionUsesOfOrderBuyers = statement({
  name: 'pricing.delete_uses_of_orders',
  takes: { owners: 'uuid[]' },
  text: `
    with buyers as (select distinct customer from pricing.redemptions where owner = any ($owners)),
      first_orders as (delete from pricing.first_orders using buyers where first_orders.customer = buyers.customer)
    delete from pricing.customer_uses using buyers where customer_uses.customer = buyers.customer`
})
export const exportOrderPromotionRedemptions = statement({
  name: 'pricing.export_redemptions_of_orders',
  takes: { owners: 'uuid[]' },
  gives: { order_id: 'uuid', promotion: 'text', code: 'text?', redeemed_at: 'timestamptz' },
  text: `
    select r.owner as order_id, p.name as promotion, c.code, r.redeemed_at
    from pricing.redemptions r
    join pricing.promotions p on p.id = r.promotion_id
    left join pricing.codes c on c.id = r.code_id
    where r.owner = any ($owners) order by r.redeemed_at, r.owner`
})
export const deleteCustomerPromotionUses = statement({
  name: 'pricing.delete_uses_of_customer',
  takes: { customer: 'text' },
  text: 'delete from pricing.customer_uses where customer = $customer'
})
export const deleteFirstOrderPromotionUseOfCustomer = statement({
  name: 'pricing.delete_first_order_of_customer',
  takes: { customer: 'text' },
  text: 'delete from pricing.first_orders where customer = $customer'
})
export const exportCustomerTaxExemptions = statement({
  name: 'pricing.export_tax_exemptions_of_customer',
  takes: { customer_id: 'uuid' },
  gives: {
    company: 'text',
    vat_id: 'text?',
    reason: 'text',
    countries: 'text[]?',
    starts_at: 'timestamptz?',
    ends_at: 'timestamptz?',
    created_at: 'timestamptz'
  },
  text: `
    select company, vat_id, reason, countries, starts_at, ends_at, created_at
    from pricing.exemptions where customer_id = $customer_id order by id`
})
export const exportCustomerPromotionRedemptions = statement({
  name: 'pricing.export_redemptions_of_customer',
  takes: { customer: 'text' },
  gives: { order_id: 'uuid', promotion: 'text', code: 'text?', redeemed_at: 'timestamptz' },
  text: `
    select r.owner as order_id, p.name as promotion, c.code, r.redeemed_at
    from pricing.customer_uses u
    join pricing.redemptions r on r.promotion_id = u.promotion_id and r.customer = u.customer
    join pricing.promotions p on p.id = r.promotion_id
    left join pricing.codes c on c.id = r.code_id
    where u.customer = $customer order by r.redeemed_at, r.owner`
})
