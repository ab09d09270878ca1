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
  'There is no such category.'
)
export const discountNotFound = defineError(
  'not_found',
  'CATALOG_DISCOUNT_NOT_FOUND',
  'There is no such discount.'
)
export const targetNotFound = defineError(
  'not_found',
  'CATALOG_TARGET_NOT_FOUND',
  'The product, variant or category that the discount is for does not exist.'
)
export const slugTaken = defineError('conflict', 'CATALOG_SLUG_TAKEN', 'Another one has this slug.')
export const skuTaken = defineError('conflict', 'CATALOG_SKU_TAKEN', 'Another variant has this SKU.')
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
export const categoryCycle = defineError(
  'conflict',
  'CATALOG_CATEGORY_CYCLE',
  'A category cannot lie below itself.'
)
export const categoryTooDeep = defineError(
  'conflict',
  'CATALOG_CATEGORY_TOO_DEEP',
  'Categories can be nested 10 levels deep.'
)
export const categoryNotEmpty = defineError(
  'conflict',
  'CATALOG_CATEGORY_NOT_EMPTY',
  'The category has categories below it; move or delete them first.'
)
export const slugNeeded = defineError(
  'invalid',
  'CATALOG_SLUG_NEEDED',
  'No slug can be made of this name; send one.'
)
export const discountPeriod = defineError(
  'invalid',
  'CATALOG_DISCOUNT_PERIOD',
  'A discount must end after it starts.'
)
export const importFailed = defineError(
  'invalid',
  'CATALOG_IMPORT_FAILED',
  'The file was not imported, and nothing was changed; the report says why.'
)
