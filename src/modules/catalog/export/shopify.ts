import { formatAmount } from '../../../kernel/money.ts'
import type { CsvValue } from '../../../platform/csv/write.ts'
import type { InventoryItemSummary } from '../../inventory/index.ts'
import { SHOPIFY_CSV_OPTION_FIELDS, SHOPIFY_DEFAULT_OPTION_VALUE } from '../import/choices.ts'
import type { ShopifyCsvColumn } from '../import/header.ts'
import { slugOfName } from '../products/slug.ts'
import type { ExportedProduct, ExportedVariant } from './repository.ts'

type Cells = Partial<Record<ShopifyCsvColumn, CsvValue>>
type Stock = ReadonlyMap<string, InventoryItemSummary>

/**
 * Returns the rows from which an import creates the same product, or the reason why the format cannot express
 * it. `stock`: by variant id; empty for a file without stock.
 */
export function shopifyCsvRowsOfProduct(
  product: ExportedProduct,
  currency: string,
  stock: Stock
): { rows: Cells[] } | { problem: string } {
  const variants = product.variants ?? []
  const names = optionsOf(product, variants)
  const problem = problemOf(names, variants)
  if (problem !== undefined) return { problem }
  const count = Math.max(variants.length, product.images.length)
  const rows = Array.from({ length: count }, (_, index): Cells => {
    const [variant, image] = [variants[index], product.images[index]]
    return {
      handle: product.slug,
      ...(index === 0 && productCells(product, names)),
      ...(variant && variantCells(variant, currency, names)),
      ...(variant && stockCells(stock.get(variant.id))),
      ...(image && { imageSrc: image.url, imagePosition: index + 1, imageAlt: image.alt })
    }
  })
  return { rows }
}

/** Returns the option names: those of the product that variants use, and further attributes of variants. */
const optionsOf = ({ options }: ExportedProduct, variants: readonly ExportedVariant[]): string[] => {
  const attributeNames = variants.flatMap(({ attributes }) => Object.keys(attributes))
  const used = options.map(({ name }) => name).filter(name => attributeNames.includes(name))
  return [...new Set([...used, ...attributeNames])]
}

/** Returns the reason why the format cannot express a product. */
function problemOf(names: readonly string[], variants: readonly ExportedVariant[]): string | undefined {
  if (variants.length === 0) return 'No variant is for sale in the currency of the shop.'
  if (names.length > SHOPIFY_CSV_OPTION_FIELDS.length)
    return `The variants have more than ${SHOPIFY_CSV_OPTION_FIELDS.length} options.`
  const choices = variants.map(({ attributes }) => names.map(name => attributes[name] ?? ''))
  if (choices.flat().some(value => value === '' || value === SHOPIFY_DEFAULT_OPTION_VALUE))
    return 'A variant has no value for an option.'
  if (new Set(choices.map(values => JSON.stringify(values))).size < choices.length)
    return 'Two variants have the same option values.'
  return undefined
}

function productCells(product: ExportedProduct, names: readonly string[]): Cells {
  const { category, status } = product
  const shown = names.length === 0 ? ['Title'] : names
  return {
    title: product.name,
    body: product.description,
    vendor: product.brand,
    type: category && typeOf(category),
    tags: product.tags.join(', '),
    published: status === 'active',
    status,
    ...Object.fromEntries(shown.map((name, index) => [SHOPIFY_CSV_OPTION_FIELDS[index]?.[0], name]))
  }
}

/** Returns the product type. An import finds the category by its slug. */
const typeOf = ({ slug, name }: { slug: string; name: string }) => (slugOfName(name) === slug ? name : slug)

function variantCells(variant: ExportedVariant, currency: string, names: readonly string[]): Cells {
  const { attributes, price_minor, sale_price_minor } = variant
  const values = names.length === 0 ? [SHOPIFY_DEFAULT_OPTION_VALUE] : names.map(name => attributes[name])
  const isOnSale = sale_price_minor !== null && sale_price_minor < price_minor
  return {
    ...Object.fromEntries(values.map((value, index) => [SHOPIFY_CSV_OPTION_FIELDS[index]?.[1], value])),
    sku: withApostrophe(variant.sku),
    grams: variant.weight_grams,
    price: formatAmount(isOnSale ? sale_price_minor : price_minor, currency),
    compareAtPrice: isOnSale ? formatAmount(price_minor, currency) : null,
    barcode: variant.barcode === null ? null : withApostrophe(variant.barcode),
    requiresShipping: variant.requires_shipping,
    variantImage: variant.image_url
  }
}

/** Doubles an apostrophe before a digit, because the import removes one as Shopify's. */
const withApostrophe = (text: string) => (/^'+\d/.test(text) ? `'${text}` : text)

/**
 * The format has no value for a limited backorder. The cell is empty then, and an import keeps the policy.
 */
const POLICIES = { none: 'deny', any: 'continue', limit: null } as const

function stockCells(stock: InventoryItemSummary | undefined): Cells {
  if (stock === undefined) return {}
  return {
    inventoryTracker: stock.tracked ? 'cartwright' : null,
    inventoryQty: stock.tracked ? stock.onHand : null,
    inventoryPolicy: POLICIES[stock.backorder]
  }
}
