import { newId } from '../../../kernel/ids.ts'
import type { Database, Transaction } from '../../../platform/postgres.ts'
import { violates } from '../../../platform/postgres-errors.ts'
import type { Write } from '../../../platform/write.ts'
import {
  categoryCycle,
  categoryNotEmpty,
  categoryNotFound,
  categoryTooDeep,
  slugNeeded,
  slugTaken
} from '../errors.ts'
import { slugOf } from '../products/slug.ts'
import type { Changes } from '../revision/changes.ts'
import { REPRICED_AT_ONCE_MAX } from '../revision/prices.ts'
import * as repository from './repository.ts'
import type { Category, CategoryBody, PatchCategory } from './schema.ts'

type Deps = { db: Database; changes: Changes }

/** The tree of categories, and how it is changed. */
export function createCategoryService({ db, changes }: Deps) {
  async function read(key: { id?: string; slug?: string }): Promise<Category> {
    const row = await repository.find(db, key)
    if (row === undefined) throw categoryNotFound()
    const { path: _, ...category } = row
    return category
  }

  /** @throws `CATALOG_SLUG_TAKEN`, `CATALOG_CATEGORY_NOT_FOUND` (its parent), `CATALOG_CATEGORY_TOO_DEEP` */
  async function create(body: CategoryBody, write: Write): Promise<Category> {
    const { name, slug = slugOf(name), parent_id = null, position = 0 } = body
    if (slug === '') throw slugNeeded()
    if (write.alreadyApplied) return read({ slug })
    const row = { id: newId(), parent_id, slug, name, position }
    await change(write, async (tx, news) => {
      await repository.lock(tx)
      await repository.insert(tx, row)
      await news.announce([])
    })
    return row
  }

  /** @throws `CATALOG_CATEGORY_CYCLE`, and as `create` */
  async function patch(id: string, body: PatchCategory, write: Write): Promise<Category> {
    if (write.alreadyApplied) return read({ id })
    await change(write, async (tx, news) => {
      await repository.lock(tx)
      const present = await repository.find(tx, { id })
      if (present === undefined) throw categoryNotFound()
      const row = { ...present, ...body }
      await repository.update(tx, row)
      if (row.parent_id === present.parent_id) return news.announce([])
      await checkNoCycle(tx, id, row.parent_id)
      await repository.move(tx, id, row.parent_id)
      await news.announceAll(await repository.listProductIds(tx, id, REPRICED_AT_ONCE_MAX + 1))
    })
    return read({ id })
  }

  /** @throws `CATALOG_CATEGORY_NOT_FOUND`, `CATALOG_CATEGORY_NOT_EMPTY` */
  async function remove(id: string, write: Write): Promise<void> {
    if (write.alreadyApplied) return
    await change(write, async (tx, news) => {
      await repository.lock(tx)
      if ((await repository.find(tx, { id })) === undefined) throw categoryNotFound()
      if ((await repository.countBelow(tx, id)) > 0) throw categoryNotEmpty()
      const productIds = await repository.listProductIds(tx, id, REPRICED_AT_ONCE_MAX + 1)
      await repository.remove(tx, id)
      await news.announceAll(productIds)
    })
  }

  const change: Changes['write'] = (write, work) => changes.write(write, work).catch(rethrow)

  return { create, patch, remove }
}
export type CategoryService = ReturnType<typeof createCategoryService>

async function checkNoCycle(tx: Transaction, id: string, parentId: string | null): Promise<void> {
  if (parentId === null) return
  const parent = await repository.find(tx, { id: parentId })
  if (parent?.path.includes(id)) throw categoryCycle()
}

function rethrow(error: unknown): never {
  if (violates(error, 'categories_slug')) throw slugTaken({ cause: error })
  if (violates(error, 'categories_parent')) throw categoryNotFound({ cause: error })
  if (violates(error, 'categories_depth')) throw categoryTooDeep({ cause: error })
  throw error
}
