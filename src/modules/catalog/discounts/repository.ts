import { countUpTo } from '../../../platform/postgres/counting.ts'
import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = {
  id: 'uuid',
  name: 'text',
  percentage_ppm: 'int4?',
  amount_minor: 'int8?',
  currency: 'text',
  product_id: 'uuid?',
  variant_id: 'uuid?',
  category_id: 'uuid?',
  starts_at: 'timestamptz',
  ends_at: 'timestamptz?',
  active: 'bool',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')
const { version: _, created_at: _at, ...written } = columns
const { product_id: _product, variant_id: _variant, category_id: _category, ...changed } = written

/** Lists discounts after the id `after`, newest first. */
export const listDiscounts = statement({
  name: 'catalog.list_discounts',
  takes: { after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `select ${names} from catalog.discounts where id < $after order by id desc limit $limit`
})
export const countDiscounts = statement({
  name: 'catalog.count_discounts',
  gives: { total: 'int4' },
  text: countUpTo('catalog.discounts')
})
export const findDiscount = statement({
  name: 'catalog.find_discount',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from catalog.discounts where id = $id`
})
export const lockDiscount = statement({
  name: 'catalog.lock_discount',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from catalog.discounts where id = $id for update`
})
/** `starts_at`: null for now. */
export const insertDiscount = statement({
  name: 'catalog.insert_discount',
  takes: { ...written, starts_at: 'timestamptz?' },
  text: `
    insert into catalog.discounts (
      id, name, percentage_ppm, amount_minor, currency, product_id, variant_id, category_id, starts_at, ends_at, active)
    values (
      $id, $name, $percentage_ppm, $amount_minor, $currency, $product_id, $variant_id, $category_id,
      coalesce($starts_at, now()), $ends_at, $active)`
})
/** Updates a discount, except its target. */
export const updateDiscount = statement({
  name: 'catalog.update_discount',
  takes: changed,
  text: `
    update catalog.discounts set
      name = $name, percentage_ppm = $percentage_ppm, amount_minor = $amount_minor, currency = $currency,
      starts_at = $starts_at, ends_at = $ends_at, active = $active, version = version + 1
    where id = $id`
})
export const deleteDiscount = statement({
  name: 'catalog.delete_discount',
  takes: { id: 'uuid' },
  text: 'delete from catalog.discounts where id = $id'
})
/** Lists the products that a discount applies to, now or later. */
export const listProductIdsOfDiscount = statement({
  name: 'catalog.list_discounted_products',
  takes: { id: 'uuid', limit: 'int8' },
  gives: { product_id: 'uuid' },
  text: `
    select product_id from catalog.discounts where id = $id and product_id is not null
    union
    select variants.product_id from catalog.discounts
    join catalog.variants on variants.id = discounts.variant_id where discounts.id = $id
    union
    select product_categories.product_id from catalog.discounts
    join catalog.categories on categories.path @> array[discounts.category_id]
    join catalog.product_categories on product_categories.category_id = categories.id
    where discounts.id = $id
    limit $limit`
})

export type DiscountRow = RowOf<typeof findDiscount>
export type NewDiscountRow = Omit<DiscountRow, 'created_at' | 'starts_at' | 'version'> & {
  starts_at: Date | null
}
