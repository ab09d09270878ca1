import { found } from '../../../kernel/errors.ts'
import { isUpdateWithoutEffect } from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import {
  categoryCycleError,
  categoryHasSubcategoriesError,
  categoryNotFoundError,
  categoryStaleError
} from '../errors.ts'
import { givenOrDerivedSlug, normalizeSlug } from '../products/slug.ts'
import type { CatalogChangePublisher } from '../revision/changes.ts'
import { listProductIdsToReprice } from '../revision/lowest-prices.ts'
import * as repository from './repository.ts'
import type {
  AdminCategoryResponse,
  CategoryNodeResponse,
  CategoryResponse,
  CreateCategoryRequest,
  UpdateCategoryRequest
} from './schema.ts'

/** Creates, updates, moves and deletes categories. */
export function createCategoryService({ db, changes }: { db: Database; changes: CatalogChangePublisher }) {
  /** @throws `CATALOG_CATEGORY_NOT_FOUND` */
  const read = async (id: string): Promise<AdminCategoryResponse> =>
    found(await db.first(repository.findCategory, { id }), categoryNotFoundError)

  /** @throws `CATALOG_SLUG_TAKEN`, `CATALOG_CATEGORY_NOT_FOUND` (its parent), `CATALOG_CATEGORY_TOO_DEEP` */
  async function create(body: CreateCategoryRequest, write: IdempotentWrite): Promise<AdminCategoryResponse> {
    const { name, slug, parent_id = null, position = 0 } = body
    const category = { id: write.id, parent_id, slug: givenOrDerivedSlug(name, slug), name, position }
    await write.once(db, async tx => {
      await tx.run(repository.lockCategoryTree)
      await tx.run(repository.insertCategory, category)
      await changeMetadata(tx, repository.updateCategoryMetadata, { ...body, id: write.id })
      changes.announcePages(tx)
    })
    return read(write.id)
  }

  /** @throws `CATALOG_CATEGORY_STALE`, `CATALOG_CATEGORY_CYCLE`, and as `create` */
  async function patch(
    id: string,
    body: UpdateCategoryRequest,
    write: IdempotentWrite
  ): Promise<AdminCategoryResponse> {
    await write.once(db, async tx => {
      const present = await lock(tx, id, write)
      if (isUpdateWithoutEffect(present, body)) return
      const wanted = { ...present, ...body, slug: normalizeSlug(body.slug ?? present.slug) }
      await tx.run(repository.updateCategory, wanted)
      await changeMetadata(tx, repository.updateCategoryMetadata, { ...body, id })
      if (wanted.parent_id === present.parent_id) return changes.announcePages(tx)
      if ((await tx.first(repository.findCategoryCycle, wanted)) !== undefined) throw categoryCycleError()
      await tx.run(repository.moveCategorySubtree, wanted)
      await changes.announceCategory(
        tx,
        id,
        await listProductIdsToReprice(tx, repository.listProductIdsInCategorySubtree, id)
      )
    })
    return read(id)
  }

  /** @throws `CATALOG_CATEGORY_NOT_FOUND`, `CATALOG_CATEGORY_STALE`, `CATALOG_CATEGORY_NOT_EMPTY` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      if ((await tx.first(repository.findChildCategory, { id })) !== undefined)
        throw categoryHasSubcategoriesError()
      const productIds = await listProductIdsToReprice(tx, repository.listProductIdsInCategorySubtree, id)
      await tx.run(repository.deleteCategory, { id })
      await changes.announceCategory(tx, id, productIds)
    })
  }

  return { read, create, patch, remove }
}
export type CategoryService = ReturnType<typeof createCategoryService>

/** Locks the tree, and with it this category, until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite) {
  await tx.run(repository.lockCategoryTree)
  const present = found(await tx.first(repository.findCategory, { id }), categoryNotFoundError)
  write.expect(present.version, categoryStaleError)
  return present
}

/** Returns the categories as a tree. `categories` are in display order, and siblings keep it. */
export function categoryTreeOf(categories: readonly CategoryResponse[]): CategoryNodeResponse[] {
  const nodes = new Map<string, CategoryNodeResponse>()
  for (const category of categories) nodes.set(category.id, { ...category, children: [] })
  const roots: CategoryNodeResponse[] = []
  for (const node of nodes.values()) {
    const siblings = node.parent_id === null ? roots : nodes.get(node.parent_id)?.children
    siblings?.push(node)
  }
  return roots
}
