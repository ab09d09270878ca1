import type { Metadata } from '../../../kernel/metadata.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  adminMetadataColumns,
  hasMetadataSql,
  metadataUpdateStatement
} from '../../../platform/postgres/metadata.ts'
import { json, nullableJson, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { AmountsByCurrency, PromotionClass } from '../quote/input.ts'
import { mailboxPromotionUsesSql } from '../redemptions/usage-limits-repository.ts'
import type { PromotionEffectRequest } from './schema.ts'

const written = {
  id: 'uuid',
  name: 'text',
  class: oneOf<PromotionClass>(),
  priority: 'int4',
  active: 'bool',
  starts_at: 'timestamptz?',
  ends_at: 'timestamptz?',
  needs_code: 'bool',
  minimum: nullableJson<AmountsByCurrency>(),
  minimum_quantity: 'int4',
  product_ids: 'uuid[]?',
  category_ids: 'uuid[]?',
  shipping_method_ids: 'uuid[]?',
  cheapest_only: 'bool',
  first_order_only: 'bool',
  customer_group: 'text?',
  effect: json<PromotionEffectRequest>(),
  combines: 'text[]',
  uses_per_customer: 'int4?'
} as const
const stored = { ...written, version: 'int4', created_at: 'timestamptz' } as const
/** Columns of a promotion with its markets and uses. `markets` empty: all markets. */
const columns = { ...stored, markets: 'text[]', uses_max: 'int4?', uses_left: 'int4?' } as const
const names = Object.keys(written)
const shown = `
  ${Object.keys(stored)
    .map(name => `promotions.${name}`)
    .join(', ')},
  array(select market from pricing.promotion_markets where promotion_id = promotions.id order by market) as markets,
  usage_limits.uses_max, usage_limits.uses_max - usage_limits.taken as uses_left`
const from = 'from pricing.promotions join pricing.usage_limits on usage_limits.id = promotions.id'
const select = `select ${shown} ${from}`

/** Only administrators see the metadata. */
const adminColumns = { ...columns, ...adminMetadataColumns } as const
const adminSelect = `select ${shown}, promotions.metadata, promotions.private_metadata ${from}`
export const updatePromotionMetadata = metadataUpdateStatement(
  'pricing.update_promotion_metadata',
  'pricing.promotions'
)

/** Pages through promotions, newest first. */
export const listPromotions = statement({
  name: 'pricing.list_promotions',
  takes: { metadata: nullableJson<Metadata>(), after: 'uuid', limit: 'int8' },
  gives: adminColumns,
  text: `
    ${adminSelect} where promotions.id < $after and ${hasMetadataSql} order by promotions.id desc limit $limit`
})
export const countPromotions = statement({
  name: 'pricing.count_promotions',
  takes: { metadata: nullableJson<Metadata>() },
  gives: { total: 'int4' },
  text: countUpTo(`pricing.promotions where ${hasMetadataSql}`)
})
export const findPromotion = statement({
  name: 'pricing.find_promotion',
  takes: { id: 'uuid' },
  gives: adminColumns,
  text: `${adminSelect} where promotions.id = $id`
})
/** Locks a promotion. Concurrent redemptions wait for this lock, or are already counted. */
export const lockPromotion = statement({
  name: 'pricing.lock_promotion',
  takes: { id: 'uuid' },
  gives: adminColumns,
  text: `${adminSelect} where promotions.id = $id for update`
})
/** Lists promotions without a code that have not ended. Above the limit of a quote, the older ones apply. */
export const listAutomaticPromotions = statement({
  name: 'pricing.list_automatic_promotions',
  takes: { limit: 'int8' },
  gives: columns,
  text: `
    ${select} where active and not needs_code and (ends_at is null or ends_at > now())
    order by promotions.id limit $limit`
})
/**
 * Serializes activations of automatic promotions, so that two activations cannot exceed the maximum number.
 */
export const lockAutomaticPromotions = statement({
  name: 'pricing.lock_automatic_promotions',
  text: `select pg_advisory_xact_lock(hashtextextended('pricing.automatic_promotions', 0))`
})
export const countAutomaticPromotions = statement({
  name: 'pricing.count_automatic_promotions',
  gives: { total: 'int4' },
  text: `
    select count(*)::int as total from pricing.promotions
    where active and not needs_code and (ends_at is null or ends_at > now())`
})
/**
 * Lists the active promotions of these codes, with the remaining uses of each code and the customer's
 * uses; see `listRemainingAndCustomerPromotionUses`.
 */
export const listPromotionsByCodes = statement({
  name: 'pricing.list_promotions_by_code',
  takes: { codes: 'text[]', customer: 'text?', mailbox: 'text?' },
  gives: { ...columns, code: 'text', code_uses_left: 'int4?', used: 'int4', has_ordered: 'bool' },
  text: `
    select ${shown}, codes.code, of_code.uses_max - of_code.taken as code_uses_left,
      coalesce(customer_uses.taken, 0) + ${mailboxPromotionUsesSql('promotions.id')} as used,
      exists (select from pricing.first_orders where customer = $customer) as has_ordered
    ${from}
    join pricing.codes on codes.promotion_id = promotions.id
    join pricing.usage_limits of_code on of_code.id = codes.id
    left join pricing.customer_uses
      on customer_uses.promotion_id = promotions.id and customer_uses.customer = $customer
    where codes.code = any ($codes) and codes.active and promotions.active`
})
export const insertPromotion = statement({
  name: 'pricing.insert_promotion',
  takes: written,
  text: `
    insert into pricing.promotions (${names.join(', ')})
    values (${names.map(name => `$${name}`).join(', ')})`
})
export const updatePromotion = statement({
  name: 'pricing.update_promotion',
  takes: written,
  text: `
    update pricing.promotions set
      ${names
        .slice(1)
        .map(name => `${name} = $${name}`)
        .join(', ')}, version = version + 1
    where id = $id`
})
/** Deletes a promotion, its codes and their usage limits. */
export const deletePromotion = statement({
  name: 'pricing.delete_promotion',
  takes: { id: 'uuid' },
  text: `
    with coupons as (delete from pricing.codes where promotion_id = $id returning id),
      gone as (delete from pricing.promotions where id = $id returning id)
    delete from pricing.usage_limits where id in (select id from coupons union all select id from gone)`
})
export const deletePromotionMarkets = statement({
  name: 'pricing.remove_promotion_markets',
  takes: { id: 'uuid' },
  text: 'delete from pricing.promotion_markets where promotion_id = $id'
})
export const insertPromotionMarkets = statement({
  name: 'pricing.add_promotion_markets',
  takes: { id: 'uuid', markets: 'text[]' },
  text: `
    insert into pricing.promotion_markets (promotion_id, market)
    select $id, market from unnest($markets::text[]) as wanted (market) order by market`
})

export type AdminPromotionRow = RowOf<typeof findPromotion>
export type PromotionRow = RowOf<typeof listAutomaticPromotions>
