import { hash } from 'node:crypto'
import { slugOfName } from '../products/slug.ts'
import { SKU_LENGTH_MAX } from '../variants/schema.ts'

/**
 * Derives the SKU of a variant without one in the file: `LINEN-SHIRT.RED.SMALL`. The same handle and option
 * values give the same SKU in every file. Handles have no dots, so that two products never derive the same
 * one. If another variant of the product has the SKU (`taken`), a hash of the exact values is appended.
 */
export function deriveVariantSku(
  slug: string,
  values: readonly string[],
  taken: ReadonlySet<string>
): string {
  const sku = [slug, ...values.map(slugOfName)].join('.').toUpperCase()
  if (sku.length <= SKU_LENGTH_MAX && !taken.has(sku)) return sku
  const ending = hash('sha256', JSON.stringify([slug, ...values]))
    .slice(0, 8)
    .toUpperCase()
  return `${sku.slice(0, SKU_LENGTH_MAX - 9)}.${ending}`
}
