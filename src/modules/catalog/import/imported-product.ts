import type { ProductImage, ProductOption } from '../products/repository.ts'

/**
 * A product of the file. Fields without a column in the file are absent, and stay unchanged in the catalog.
 */
export type ImportedProduct = {
  row: number
  slug: string
  fields: {
    name: string
    description?: string
    brand?: string | null
    status?: 'draft' | 'active' | 'archived'
    tags?: string[]
    options: ProductOption[]
    images?: ProductImage[]
  }
  /** The product type, which is the name of its category. Null: none. */
  type?: string | null
  variants: ImportedVariant[]
}
/** The stock of a variant in the file, for the inventory. */
export type ImportedVariantStock = { tracked?: boolean; backorder?: 'none' | 'any'; onHand?: number }
export type ImportedVariant = {
  row: number
  /** The SKU in the file. Null: the file has none, so the stored SKU is kept or a new one is derived. */
  sku: string | null
  fields: {
    name: string
    price_minor: number
    sale_price_minor: number | null
    attributes: Record<string, string>
    image_url?: string | null
    weight_grams?: number | null
    barcode?: string | null
    requires_shipping?: boolean
  }
  stock: ImportedVariantStock
}
