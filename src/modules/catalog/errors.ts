import { defineError } from '../../kernel/errors.ts'

export const productNotFound = defineError(
  'not_found',
  'CATALOG_PRODUCT_NOT_FOUND',
  'There is no such product.'
)
export const variantNotFound = defineError(
  'not_found',
  'CATALOG_VARIANT_NOT_FOUND',
  'There is no such variant.'
)
export const categoryNotFound = defineError(
  'not_found',
  'CATALOG_CATEGORY_NOT_FOUND',
  'There is no such category.',
  { constraints: ['catalog.categories_parent', 'catalog.product_categories_category'] }
)
export const discountNotFound = defineError(
  'not_found',
  'CATALOG_DISCOUNT_NOT_FOUND',
  'There is no such discount.'
)
export const listLimit = defineError(
  'rate_limited',
  'CATALOG_LIST_LIMIT',
  'Too many lists and searches were asked for from here at once; try again shortly.'
)
export const slugTaken = defineError('conflict', 'CATALOG_SLUG_TAKEN', 'Another one has this slug.', {
  constraints: ['catalog.products_slug', 'catalog.categories_slug'],
  fault: { path: 'body/slug', message: 'must not be that of another one' }
})
export const skuTaken = defineError('conflict', 'CATALOG_SKU_TAKEN', 'Another variant has this SKU.', {
  constraints: ['catalog.variants_sku']
})
export const productStale = defineError(
  'stale',
  'CATALOG_PRODUCT_STALE',
  'The product was changed in the meantime; read it again.'
)
export const variantLimit = defineError(
  'conflict',
  'CATALOG_VARIANT_LIMIT',
  'The product has as many variants as a product may have.'
)
export const categoryStale = defineError(
  'stale',
  'CATALOG_CATEGORY_STALE',
  'The category was changed in the meantime; read it again.'
)
export const discountStale = defineError(
  'stale',
  'CATALOG_DISCOUNT_STALE',
  'The discount was changed in the meantime; read it again.'
)
export const categoryCycle = defineError(
  'conflict',
  'CATALOG_CATEGORY_CYCLE',
  'A category cannot lie below itself.'
)
export const categoryNotEmpty = defineError(
  'conflict',
  'CATALOG_CATEGORY_NOT_EMPTY',
  'The category has categories below it; move or delete them first.'
)
export const variantsInvalid = defineError(
  'invalid',
  'CATALOG_VARIANTS_INVALID',
  'Variants could not be chosen or sold like this; "errors" says which and why.'
)
export const slugNeeded = defineError(
  'invalid',
  'CATALOG_SLUG_NEEDED',
  'No slug can be made of this name; send one.',
  { fault: { path: 'body/slug', message: 'is required, because the name has no letters or digits' } }
)
export const importFailed = defineError(
  'invalid',
  'CATALOG_IMPORT_FAILED',
  'The file was not imported, and nothing was changed; the report says why.'
)
/** `report`: what was imported; `first_row_left`: the first row of the file that was not begun. */
export const importInterrupted = defineError(
  'unavailable',
  'CATALOG_IMPORT_INTERRUPTED',
  'The server stopped before the end of the file: `report` says what was imported, `first_row_left` the first row that was not begun. Send the same file again.'
)

// Only the database says these: nobody throws them by name.
defineError(
  'not_found',
  'CATALOG_TARGET_NOT_FOUND',
  'The product, variant or category that the discount is for does not exist.',
  { constraints: ['catalog.discounts_product', 'catalog.discounts_variant', 'catalog.discounts_category'] }
)
defineError('conflict', 'CATALOG_CATEGORY_TOO_DEEP', 'Categories can be nested 10 levels deep.', {
  constraints: ['catalog.categories_depth']
})
defineError('invalid', 'CATALOG_DISCOUNT_PERIOD', 'A discount must end after it starts.', {
  constraints: ['catalog.discounts_period'],
  fault: { path: 'body/ends_at', message: 'must be after the start' }
})
