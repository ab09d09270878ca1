import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../../kernel/ids.ts'
import type { ProductRow } from '../products/repository.ts'
import { productSearchText } from '../products/slug.ts'
import type { VariantRow } from '../variants/repository.ts'
import type { ImportedProduct, ImportedVariant, ImportedVariantStock } from './imported-product.ts'
import { deriveVariantSku } from './sku.ts'

/** A product as the catalog stores it. `links`: its categories. */
export type StoredProduct = {
  product: ProductRow
  variants: VariantRow[]
  links: { category_id: string; imported: boolean }[]
}
/** The rows to write so that the catalog matches a product of the file. */
export type ProductImportChange = {
  draft: ImportedProduct
  kind: 'created' | 'updated' | 'unchanged'
  product: ProductRow
  inserted: VariantRow[]
  updated: VariantRow[]
  unchangedVariants: number
  deactivated: VariantRow[]
  /** All variants of the file, including unchanged ones. */
  described: ({ variantId: string; sku: string } & ImportedVariantStock)[]
  /** Ids of the categories to add. */
  linked: string[]
  unlinked: string[]
}

/**
 * Compares a product of the file with the catalog. Variants keep their ids: they are matched by SKU, else by
 * their option values, else by the SKU derived from these. `categoryId`: the category of the product type.
 * Null: no type. `undefined`: the file has no such column.
 */
export function compareImportedProduct(
  draft: ImportedProduct,
  stored: StoredProduct | undefined,
  categoryId: string | null | undefined,
  currency: string
): ProductImportChange {
  const present = stored?.product ?? newProduct(draft.slug)
  const product = { ...present, ...draft.fields }
  product.search_text = productSearchText(product.name, product.brand)
  const variants = variantChanges(draft, product.id, stored?.variants ?? [], currency)
  const links = linkChanges(stored?.links ?? [], categoryId)
  const isSame =
    isDeepStrictEqual(product, present) &&
    [variants.inserted, variants.updated, variants.deactivated, links.linked, links.unlinked].every(
      list => list.length === 0
    )
  const kind = stored === undefined ? 'created' : isSame ? 'unchanged' : 'updated'
  return { draft, kind, product, ...variants, ...links }
}

const newProduct = (slug: string): ProductRow => ({
  id: newId(),
  slug,
  name: '',
  description: '',
  brand: null,
  status: 'active',
  tags: [],
  options: [],
  images: [],
  search_text: ''
})

function variantChanges(
  draft: ImportedProduct,
  productId: string,
  stored: readonly VariantRow[],
  currency: string
) {
  const matches = matchVariants(draft, stored)
  const taken = new Set(draft.variants.flatMap(({ sku }, index) => sku ?? matches[index]?.sku ?? []))
  const inserted: VariantRow[] = []
  const updated: VariantRow[] = []
  const described: ProductImportChange['described'] = []
  for (const [index, variant] of draft.variants.entries()) {
    const match = matches[index]
    const sku = variant.sku ?? match?.sku ?? deriveVariantSku(draft.slug, valuesOf(variant), taken)
    taken.add(sku)
    const present = match ?? newVariant(productId)
    const row = { ...present, ...variant.fields, sku, currency, active: true, position: index + 1 }
    described.push({ variantId: row.id, sku, ...variant.stock })
    if (match === undefined) inserted.push(row)
    else if (!isDeepStrictEqual(row, match)) updated.push(row)
  }
  const kept = new Set(matches)
  const deactivated = stored
    .filter(each => each.active && !kept.has(each))
    .map(each => ({ ...each, active: false }))
  const unchangedVariants = draft.variants.length - inserted.length - updated.length
  return { inserted, updated, unchangedVariants, deactivated, described }
}

/**
 * Returns the stored variant that matches each variant of the draft. A stored variant is matched at most
 * once.
 */
function matchVariants(draft: ImportedProduct, stored: readonly VariantRow[]): (VariantRow | undefined)[] {
  const bySku = new Map(stored.map(each => [each.sku, each]))
  const byOptions = new Map(stored.map(each => [optionsKey(each.attributes), each]))
  const matches: (VariantRow | undefined)[] = draft.variants.map(() => undefined)
  const used = new Set<VariantRow>()
  const match = (find: (variant: ImportedVariant) => VariantRow | undefined) => {
    for (const [index, variant] of draft.variants.entries()) {
      const found = matches[index] === undefined ? find(variant) : undefined
      if (found === undefined || used.has(found)) continue
      matches[index] = found
      used.add(found)
    }
  }
  match(({ sku }) => (sku === null ? undefined : bySku.get(sku)))
  match(({ fields }) => byOptions.get(optionsKey(fields.attributes)))
  match(variant => bySku.get(variant.sku ?? deriveVariantSku(draft.slug, valuesOf(variant), new Set())))
  return matches
}

const valuesOf = ({ fields }: ImportedVariant) => Object.values(fields.attributes)
const optionsKey = (attributes: Record<string, string>) => JSON.stringify(Object.entries(attributes).sort())

const newVariant = (productId: string): VariantRow => ({
  id: newId(),
  product_id: productId,
  sku: '',
  name: '',
  price_minor: 0,
  sale_price_minor: null,
  currency: '',
  attributes: {},
  image_url: null,
  weight_grams: null,
  barcode: null,
  active: true,
  position: 0,
  quantity_min: 1,
  quantity_max: null,
  quantity_step: 1,
  requires_shipping: true,
  tax_category: null
})

/** Removes only categories that an import added. Those that an administrator added stay. */
function linkChanges(links: StoredProduct['links'], categoryId: string | null | undefined) {
  if (categoryId === undefined) return { linked: [], unlinked: [] }
  const isLinked = links.some(link => link.category_id === categoryId)
  return {
    linked: categoryId === null || isLinked ? [] : [categoryId],
    unlinked: links
      .filter(link => link.imported && link.category_id !== categoryId)
      .map(link => link.category_id)
  }
}
