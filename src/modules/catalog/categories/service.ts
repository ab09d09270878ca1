import { changesNothing } from '../../../kernel/patch.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { categoryCycle, categoryNotEmpty, categoryNotFound, categoryStale, slugNeeded } from '../errors.ts'
import { slugOf, storedSlug } from '../products/slug.ts'
import type { Changes } from '../revision/changes.ts'
import { REPRICED_AT_ONCE_MAX } from '../revision/prices.ts'
import * as repository from './repository.ts'
import type { CategoryResponse, CreateCategoryRequest, UpdateCategoryRequest } from './schema.ts'

type Deps = { db: Database; changes: Changes }

/** The tree of categories, and how it is changed. */
export function createCategoryService({ db, changes }: Deps) {
  async function read(id: string): Promise<CategoryResponse> {
    const row = await db.first(repository.findCategory, { id })
    if (row === undefined) throw categoryNotFound()
    const { path: _, ...category } = row
    return category
  }

  /** @throws `CATALOG_SLUG_TAKEN`, `CATALOG_CATEGORY_NOT_FOUND` (its parent), `CATALOG_CATEGORY_TOO_DEEP` */
  async function create(body: CreateCategoryRequest, write: Write): Promise<CategoryResponse> {
    const { name, parent_id = null, position = 0 } = body
    const slug = storedSlug(body.slug ?? slugOf(name))
    if (slug === '') throw slugNeeded()
    const made = await write.once(db, async tx => {
      await tx.run(repository.lockTree)
      const row = await tx.first(repository.insertCategory, { id: write.id, parent_id, slug, name, position })
      await changes.announce(tx, [])
      return row
    })
    return made ?? read(write.id)
  }

  /** @throws `CATALOG_CATEGORY_STALE`, `CATALOG_CATEGORY_CYCLE`, and as `create` */
  async function patch(id: string, body: UpdateCategoryRequest, write: Write): Promise<CategoryResponse> {
    await write.once(db, async tx => {
      const present = await lock(tx, id, write)
      if (changesNothing(body)) return
      const wanted = { ...present, ...body, slug: storedSlug(body.slug ?? present.slug) }
      await tx.run(repository.updateCategory, wanted)
      if (wanted.parent_id === present.parent_id) return changes.announce(tx, [])
      await checkNoCycle(tx, id, wanted.parent_id)
      await tx.run(repository.moveSubtree, wanted)
      await changes.announceAll(tx, await listProductIds(tx, id))
    })
    return read(id)
  }

  /** @throws `CATALOG_CATEGORY_NOT_FOUND`, `CATALOG_CATEGORY_STALE`, `CATALOG_CATEGORY_NOT_EMPTY` */
  async function remove(id: string, write: Write): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      if ((await tx.first(repository.findChild, { id })) !== undefined) throw categoryNotEmpty()
      const productIds = await listProductIds(tx, id)
      await tx.run(repository.deleteCategory, { id })
      await changes.announceAll(tx, productIds)
    })
  }

  return { create, patch, remove }
}
export type CategoryService = ReturnType<typeof createCategoryService>

/** Holds the tree, and with it this category, until `tx` ends. */
async function lock(tx: Transaction, id: string, write: Write) {
  await tx.run(repository.lockTree)
  const present = await tx.first(repository.findCategory, { id })
  if (present === undefined) throw categoryNotFound()
  write.expect(present.version, categoryStale)
  return present
}

/** The products in it and in what is below it; one more than are repriced at once, when there are too many. */
async function listProductIds(tx: Transaction, id: string): Promise<string[]> {
  const rows = await tx.rows(repository.listProductsBelow, { id, limit: REPRICED_AT_ONCE_MAX + 1 })
  return rows.map(row => row.product_id)
}

async function checkNoCycle(tx: Transaction, id: string, parentId: string | null): Promise<void> {
  if (parentId === null) return
  const parent = await tx.first(repository.findCategory, { id: parentId })
  if (parent?.path.includes(id)) throw categoryCycle()
}
