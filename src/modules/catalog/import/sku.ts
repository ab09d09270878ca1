import { hash } from 'node:crypto'
import { slugOf } from '../products/slug.ts'
import { SKU_LENGTH_MAX } from '../variants/schema.ts'

/**
 * The SKU of a variant that the file gives none: `LINEN-SHIRT.RED.SMALL`. The same handle and option values give the
 * same SKU, in every file; a point cannot be in a handle, so no two products give the same one. `taken` by another
 * variant of the product, it gets an ending made of the exact values.
 */
export function deriveSku(slug: string, values: readonly string[], taken: ReadonlySet<string>): string {
  const sku = [slug, ...values.map(slugOf)].join('.').toUpperCase()
  if (sku.length <= SKU_LENGTH_MAX && !taken.has(sku)) return sku
  const ending = hash('sha256', JSON.stringify([slug, ...values]))
    .slice(0, 8)
    .toUpperCase()
  return `${sku.slice(0, SKU_LENGTH_MAX - 9)}.${ending}`
}
