import { formatAmount } from '../../../kernel/money.ts'
import type { CsvValue } from '../../../platform/csv/write.ts'
import type { StockDescription } from '../../inventory/index.ts'
import { ONLY_ONE, OPTIONS } from '../import/choices.ts'
import type { Field } from '../import/header.ts'
import { slugOf } from '../products/slug.ts'
import type { ExportedProduct, ExportedVariant } from './repository.ts'

type Cells = Partial<Record<Field, CsvValue>>
type Stock = ReadonlyMap<string, StockDescription>

/**
 * The rows of a product, of which an import makes the same; or why it cannot be in such a file. `stock`: what is counted,
 * where the file says so.
 */
export function rowsOf(
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

/** Those of the product, and what else its variants say of themselves. */
const optionsOf = ({ options }: ExportedProduct, variants: readonly ExportedVariant[]): string[] => {
  const said = variants.flatMap(({ attributes }) => Object.keys(attributes))
  const used = options.map(({ name }) => name).filter(name => said.includes(name))
  return [...new Set([...used, ...said])]
}

/** What such a file has no words for. */
function problemOf(names: readonly string[], variants: readonly ExportedVariant[]): string | undefined {
  if (variants.length === 0) return 'No variant of it is sold in the currency of the shop.'
  if (names.length > OPTIONS.length) return `Its variants differ in more than ${OPTIONS.length} things.`
  const choices = variants.map(({ attributes }) => names.map(name => attributes[name] ?? ''))
  if (choices.flat().some(value => value === '' || value === ONLY_ONE))
    return 'Not every variant has a value of each option.'
  if (new Set(choices.map(values => JSON.stringify(values))).size < choices.length)
    return 'Two of its variants have the same options.'
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
    ...Object.fromEntries(shown.map((name, index) => [OPTIONS[index]?.[0], name]))
  }
}

/** An import finds the category by the slug of the type. */
const typeOf = ({ slug, name }: { slug: string; name: string }) => (slugOf(name) === slug ? name : slug)

function variantCells(variant: ExportedVariant, currency: string, names: readonly string[]): Cells {
  const { attributes, price_minor, sale_price_minor } = variant
  const values = names.length === 0 ? [ONLY_ONE] : names.map(name => attributes[name])
  const isOnSale = sale_price_minor !== null && sale_price_minor < price_minor
  return {
    ...Object.fromEntries(values.map((value, index) => [OPTIONS[index]?.[1], value])),
    sku: quoted(variant.sku),
    grams: variant.weight_grams,
    price: formatAmount(isOnSale ? sale_price_minor : price_minor, currency),
    compareAtPrice: isOnSale ? formatAmount(price_minor, currency) : null,
    barcode: variant.barcode === null ? null : quoted(variant.barcode),
    requiresShipping: variant.requires_shipping,
    variantImage: variant.image_url
  }
}

/** An import takes an apostrophe before a digit for one of Shopify. */
const quoted = (text: string) => (/^'+\d/.test(text) ? `'${text}` : text)

/** What may be sold up to a limit has no word there: an import leaves it as it is. */
const POLICIES = { none: 'deny', any: 'continue', limit: null } as const

function stockCells(stock: StockDescription | undefined): Cells {
  if (stock === undefined) return {}
  return {
    inventoryTracker: stock.tracked ? 'cartwright' : null,
    inventoryQty: stock.tracked ? stock.onHand : null,
    inventoryPolicy: POLICIES[stock.backorder]
  }
}
