import type { Option, StoredImage } from '../products/repository.ts'

/** A product as the file describes it. What the file has no column for is absent, and stays as it is. */
export type ProductDraft = {
  row: number
  slug: string
  fields: {
    name: string
    description?: string
    brand?: string | null
    status?: 'draft' | 'active' | 'archived'
    tags?: string[]
    options: Option[]
    images?: StoredImage[]
  }
  /** The name of its category; `null` for none. */
  type?: string | null
  variants: VariantDraft[]
}
/** What the file says of a variant's stock: the inventory's business. */
export type VariantStock = { tracked?: boolean; backorder?: 'none' | 'any'; onHand?: number }
export type VariantDraft = {
  row: number
  /** `null`: the file gives none, it is kept or derived. */
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
  stock: VariantStock
}
