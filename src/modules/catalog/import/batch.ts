import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import * as products from '../products/repository.ts'
import { slugOfName } from '../products/slug.ts'
import * as variants from '../variants/repository.ts'
import { compareImportedProduct, type ProductImportChange } from './diff.ts'
import type { ImportedProduct } from './imported-product.ts'
import { type ProductImportCounts, type ProductImportProblem, zeroProductImportCounts } from './report.ts'
import * as repository from './repository.ts'

/** The outcome of a batch. `changedIds`: the products that changed. */
export type ProductImportBatchOutcome = {
  counts: ProductImportCounts
  failures: ProductImportProblem[][]
  changedIds: string[]
}

/**
 * Imports a batch of products, in about ten statements for any number of products. Skips a product with the
 * SKU of another product; any other database error fails the whole batch.
 */
export async function importProductBatch(
  tx: Transaction,
  drafts: readonly ImportedProduct[],
  { currency, inventory }: { currency: string; inventory: Pick<InventoryApi, 'upsertItems'> | undefined }
): Promise<ProductImportBatchOutcome> {
  await tx.run(repository.forceCustomQueryPlans)
  const stored = await repository.lockStoredProductsBySlug(
    tx,
    drafts.map(draft => draft.slug)
  )
  const categories = await ensureCategories(tx, drafts)
  const wanted = drafts.map(draft =>
    compareImportedProduct(draft, stored.get(draft.slug), categoryOf(draft, categories), currency)
  )
  const { changes, failures } = await withoutSkuConflicts(tx, wanted)
  await writeChanges(tx, changes)
  // Includes unchanged variants, so that sending the file again completes an interrupted import.
  const described = changes.flatMap(change => change.described)
  if (described.length > 0) await inventory?.upsertItems(tx, described)
  const changedIds = changes.filter(({ kind }) => kind !== 'unchanged').map(({ product }) => product.id)
  return { counts: count(changes), failures, changedIds }
}

/** Returns the ids of the categories of the product types, by slug. Creates missing categories. */
async function ensureCategories(
  tx: Transaction,
  drafts: readonly ImportedProduct[]
): Promise<Map<string, string>> {
  const names = new Map(drafts.flatMap(({ type }) => (type ? [[slugOfName(type), type] as const] : [])))
  names.delete('')
  const slugs = [...names.keys()]
  const known = await repository.findCategoryIdsBySlug(tx, slugs)
  const missing = slugs.filter(slug => !known.has(slug))
  if (missing.length === 0) return known
  const rows = missing.map(slug => ({ id: newId(), slug, name: names.get(slug) ?? slug }))
  await tx.run(repository.insertImportedCategories, { rows })
  return repository.findCategoryIdsBySlug(tx, slugs)
}

const categoryOf = ({ type }: ImportedProduct, categories: ReadonlyMap<string, string>) =>
  typeof type === 'string' ? (categories.get(slugOfName(type)) ?? null) : type

/** Separates the changes with an SKU that another product has, in the catalog or earlier in this batch. */
async function withoutSkuConflicts(tx: Transaction, wanted: readonly ProductImportChange[]) {
  const skus = wanted.flatMap(({ inserted, updated }) => [...inserted, ...updated].map(({ sku }) => sku))
  const owners = await repository.findProductSlugsBySku(tx, skus)
  const changes: ProductImportChange[] = []
  const failures: ProductImportProblem[][] = []
  for (const change of wanted) {
    const { draft, inserted, updated } = change
    const claimed = [...inserted, ...updated]
    const conflicts = claimed.filter(({ sku }) => (owners.get(sku) ?? draft.slug) !== draft.slug)
    if (conflicts.length > 0) {
      failures.push(conflicts.map(variant => skuProblem(draft, variant, owners.get(variant.sku) ?? '')))
    } else {
      changes.push(change)
      for (const { sku } of claimed) owners.set(sku, draft.slug)
    }
  }
  return { changes, failures }
}

function skuProblem(
  draft: ImportedProduct,
  { sku, position }: variants.VariantRow,
  owner: string
): ProductImportProblem {
  const row = draft.variants[position - 1]?.row ?? draft.row
  return {
    row,
    handle: draft.slug,
    column: 'Variant SKU',
    message: `The SKU ${sku} belongs to the product ${owner}. Choose another SKU.`
  }
}

async function writeChanges(tx: Transaction, changes: readonly ProductImportChange[]): Promise<void> {
  const created = changes.filter(({ kind }) => kind === 'created').map(({ product }) => product)
  const updated = changes.filter(({ kind }) => kind === 'updated').map(({ product }) => product)
  const changedVariants = changes.flatMap(change => [...change.updated, ...change.deactivated])
  const newVariants = changes.flatMap(change => change.inserted)
  const unlinked = changes.flatMap(({ product, unlinked }) => linksOf(product.id, unlinked))
  const linked = changes.flatMap(({ product, linked }) => linksOf(product.id, linked))
  if (created.length > 0) await tx.run(products.insertProducts, { rows: created })
  if (updated.length > 0) await tx.run(products.updateProducts, { rows: updated })
  if (changedVariants.length > 0) await tx.run(variants.updateVariants, { rows: changedVariants })
  if (newVariants.length > 0) await tx.run(variants.insertVariants, { rows: newVariants })
  if (unlinked.length > 0) await tx.run(repository.deleteImportedCategoryLinks, { rows: unlinked })
  if (linked.length > 0) await tx.run(repository.insertImportedCategoryLinks, { rows: linked })
}

const linksOf = (product_id: string, categoryIds: readonly string[]) =>
  categoryIds.map(category_id => ({ product_id, category_id }))

function count(changes: readonly ProductImportChange[]): ProductImportCounts {
  const counts = zeroProductImportCounts()
  for (const change of changes) {
    counts.products[change.kind] += 1
    counts.variants.created += change.inserted.length
    counts.variants.updated += change.updated.length
    counts.variants.unchanged += change.unchangedVariants
    counts.variants.deactivated += change.deactivated.length
  }
  return counts
}
