import { statement } from '../../../platform/postgres/statement.ts'

/**
 * Sets whether these variants are in stock: those in `inStock` are. Returns the products of variants that
 * changed.
 */
export const updateVariantsInStock = statement({
  name: 'catalog.update_in_stock',
  takes: { variantIds: 'uuid[]', inStock: 'uuid[]' },
  gives: { product_id: 'uuid' },
  text: `
    update catalog.variants set in_stock = not in_stock
    where id = any ($variantIds) and in_stock <> (id = any ($inStock))
    returning product_id`
})
export const listVariantsAfter = statement({
  name: 'catalog.list_variants_after',
  takes: { after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid', sku: 'text', in_stock: 'bool' },
  text: 'select id, sku, in_stock from catalog.variants where id > $after order by id limit $limit'
})
