import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { type RowOf, statement } from '../../../platform/statement.ts'

const listCategories = statement(
  'catalog.list_categories',
  { id: 'uuid', parent_id: 'uuid?', slug: 'text', name: 'text', position: 'int4' },
  'select id, parent_id, slug, name, position from catalog.categories order by position, name, id'
)
const findCategory = statement(
  'catalog.find_category',
  { id: 'uuid', parent_id: 'uuid?', slug: 'text', name: 'text', position: 'int4', path: 'uuid[]' },
  `select id, parent_id, slug, name, position, path from catalog.categories
   where id = $1 or slug = $2 order by id = $1 desc nulls last limit 1`
)
// Whoever moves a category must know where the others are: one at a time. Readers and imports do not wait.
const lockTree = statement(
  'catalog.lock_category_tree',
  {},
  `select pg_advisory_xact_lock(hashtextextended('catalog.categories', 0))`
)
const insertCategory = statement(
  'catalog.insert_category',
  {},
  `insert into catalog.categories (id, parent_id, slug, name, position, path)
   select $1, $2, $3, $4, $5, coalesce(parents.path, '{}') || $1::uuid
   from (select) as one left join catalog.categories parents on parents.id = $2`
)
const updateCategory = statement(
  'catalog.update_category',
  {},
  'update catalog.categories set parent_id = $2, slug = $3, name = $4, position = $5 where id = $1'
)
// $1 moves with all that is below it: the part of their paths above $1 is replaced.
const moveSubtree = statement(
  'catalog.move_category_subtree',
  {},
  `update catalog.categories set
     path = coalesce((select parents.path from catalog.categories parents where parents.id = $2), '{}')
       || path[array_position(path, $1):]
   where path @> array[$1::uuid]`
)
const countChildren = statement(
  'catalog.count_category_children',
  { total: 'int4' },
  'select count(*)::int as total from catalog.categories where parent_id = $1'
)
const deleteCategory = statement(
  'catalog.delete_category',
  {},
  'delete from catalog.categories where id = $1'
)
const listProductsBelow = statement(
  'catalog.list_products_below_category',
  { product_id: 'uuid' },
  `select distinct product_id from catalog.product_categories
   join catalog.categories on categories.id = product_categories.category_id
   where categories.path @> array[$1::uuid]
   limit $2`
)

export type CategoryRow = RowOf<typeof listCategories>

export const list = (db: Queryable): Promise<CategoryRow[]> => db.query(listCategories, [])

export const find = async (db: Queryable, key: { id?: string | undefined; slug?: string | undefined }) =>
  (await db.query(findCategory, [key.id ?? null, key.slug ?? null]))[0]

/** Holds the shape of the tree until `tx` ends. */
export async function lock(tx: Transaction): Promise<void> {
  await tx.query(lockTree, [])
}

export async function insert(
  tx: Transaction,
  { id, parent_id, slug, name, position }: CategoryRow
): Promise<void> {
  await tx.query(insertCategory, [id, parent_id, slug, name, position])
}

/** Where it lies in the tree is the business of `move`. */
export async function update(
  tx: Transaction,
  { id, parent_id, slug, name, position }: CategoryRow
): Promise<void> {
  await tx.query(updateCategory, [id, parent_id, slug, name, position])
}

export async function move(tx: Transaction, id: string, parentId: string | null): Promise<void> {
  await tx.query(moveSubtree, [id, parentId])
}

export async function countBelow(tx: Transaction, id: string): Promise<number> {
  const [row] = await tx.query(countChildren, [id])
  return row?.total ?? 0
}

export async function remove(tx: Transaction, id: string): Promise<void> {
  await tx.query(deleteCategory, [id])
}

/** The products in this category and in those below it, up to `limit`. */
export const listProductIds = async (tx: Transaction, id: string, limit: number): Promise<string[]> =>
  (await tx.query(listProductsBelow, [id, limit])).map(row => row.product_id)
