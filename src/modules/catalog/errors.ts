import { defineError } from '../../kernel/errors.ts'

export const productNotFoundError = defineError(
  'not_found',
  'CATALOG_PRODUCT_NOT_FOUND',
  'The product does not exist, or is not active.'
)
export const variantNotFoundError = defineError(
  'not_found',
  'CATALOG_VARIANT_NOT_FOUND',
  'The variant does not exist.'
)
export const categoryNotFoundError = defineError(
  'not_found',
  'CATALOG_CATEGORY_NOT_FOUND',
  'The category does not exist.',
  { constraints: ['catalog.categories_parent', 'catalog.product_categories_category'] }
)
export const discountNotFoundError = defineError(
  'not_found',
  'CATALOG_DISCOUNT_NOT_FOUND',
  'The discount does not exist.'
)
export const tooManyConcurrentListsError = defineError(
  'rate_limited',
  'CATALOG_LIST_LIMIT',
  'Too many simultaneous lists and searches from this network. Try again shortly.'
)
export const slugTakenError = defineError(
  'conflict',
  'CATALOG_SLUG_TAKEN',
  'Another product or category has this slug. Choose another one.',
  {
    constraints: ['catalog.products_slug', 'catalog.categories_slug'],
    fault: { path: 'body/slug', message: 'must be unique' }
  }
)
export const skuTakenError = defineError(
  'conflict',
  'CATALOG_SKU_TAKEN',
  'Another variant has this SKU. Choose another one.',
  {
    constraints: ['catalog.variants_sku']
  }
)
export const productStaleError = defineError(
  'stale',
  'CATALOG_PRODUCT_STALE',
  'The product has changed since it was read. Read it again.'
)
export const variantLimitReachedError = defineError(
  'conflict',
  'CATALOG_VARIANT_LIMIT',
  'The product has the maximum number of variants. Delete a variant first.'
)
export const categoryStaleError = defineError(
  'stale',
  'CATALOG_CATEGORY_STALE',
  'The category has changed since it was read. Read it again.'
)
export const discountStaleError = defineError(
  'stale',
  'CATALOG_DISCOUNT_STALE',
  'The discount has changed since it was read. Read it again.'
)
export const categoryCycleError = defineError(
  'conflict',
  'CATALOG_CATEGORY_CYCLE',
  'A category cannot be below itself. Choose another parent.'
)
export const categoryHasSubcategoriesError = defineError(
  'conflict',
  'CATALOG_CATEGORY_NOT_EMPTY',
  'The category has categories below it. Move or delete them first.'
)
export const variantsInvalidError = defineError(
  'invalid',
  'CATALOG_VARIANTS_INVALID',
  'The options, prices or quantities of variants are invalid. `errors` lists what to correct.'
)
export const slugRequiredError = defineError(
  'invalid',
  'CATALOG_SLUG_NEEDED',
  'No slug can be made from this name. Send a `slug`.',
  { fault: { path: 'body/slug', message: 'is required, because the name has no letters or digits' } }
)
export const productImportFailedError = defineError(
  'invalid',
  'CATALOG_IMPORT_FAILED',
  'The file was not imported, and nothing was changed. See `report` for the reasons.'
)
/**
 * `report`: counts of imported rows and their problems. `first_row_left`: the first row of the file that was
 * not processed.
 */
export const productImportInterruptedError = defineError(
  'unavailable',
  'CATALOG_IMPORT_INTERRUPTED',
  'The server stopped before the end of the file. `report` counts what was imported, `first_row_left` is the first row that was not processed. Send the same file again.'
)

// Errors that only constraints of the database raise.
defineError(
  'not_found',
  'CATALOG_TARGET_NOT_FOUND',
  'The product, variant or category that the discount is for does not exist.',
  { constraints: ['catalog.discounts_product', 'catalog.discounts_variant', 'catalog.discounts_category'] }
)
defineError(
  'conflict',
  'CATALOG_CATEGORY_TOO_DEEP',
  'Categories can be nested 10 levels deep. Choose another parent.',
  {
    constraints: ['catalog.categories_depth']
  }
)
defineError(
  'invalid',
  'CATALOG_DISCOUNT_PERIOD',
  'A discount must end after it starts. Change `starts_at` or `ends_at`.',
  {
    constraints: ['catalog.discounts_period'],
    fault: { path: 'body/ends_at', message: 'must be after the start' }
  }
)
