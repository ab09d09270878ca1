import type { Metadata } from '../../../kernel/metadata.ts'
import { adminMetadataColumns, metadataUpdateStatement } from '../../../platform/postgres/metadata.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'

const written = { id: 'uuid', parent_id: 'uuid?', slug: 'text', name: 'text', position: 'int4' } as const
const columns = { ...written, version: 'int4', metadata: json<Metadata>() } as const

export const listCategories = statement({
  name: 'catalog.list_categories',
  gives: columns,
  text: `
    select id, parent_id, slug, name, position, version, metadata from catalog.categories order by position, name, id`
})
export const findCategory = statement({
  name: 'catalog.find_category',
  takes: { id: 'uuid' },
  gives: { ...columns, path: 'uuid[]', ...adminMetadataColumns },
  text: `
    select id, parent_id, slug, name, position, version, metadata, path, private_metadata
    from catalog.categories where id = $id`
})
export const findCategoryByIdOrSlug = statement({
  name: 'catalog.find_category_by_id_or_slug',
  takes: { id: 'uuid?', slug: 'text' },
  gives: { ...columns, path: 'uuid[]' },
  text: `
    select id, parent_id, slug, name, position, version, metadata, path from catalog.categories
    where id = $id or slug = $slug order by id = $id desc nulls last limit 1`
})
/**
 * Locks the category tree, because a move must see the position of all categories. Readers and imports do not
 * wait.
 */
export const lockCategoryTree = statement({
  name: 'catalog.lock_category_tree',
  text: `select pg_advisory_xact_lock(hashtextextended('catalog.categories', 0))`
})
export const insertCategory = statement({
  name: 'catalog.insert_category',
  takes: written,
  text: `
    insert into catalog.categories (id, parent_id, slug, name, position, path)
    select $id, $parent_id, $slug, $name, $position, coalesce(parents.path, '{}') || $id::uuid
    from (select) as one left join catalog.categories parents on parents.id = $parent_id`
})
/** Updates a category, except `path`, which `moveCategorySubtree` updates. */
export const updateCategory = statement({
  name: 'catalog.update_category',
  takes: written,
  text: `
    update catalog.categories set
      parent_id = $parent_id, slug = $slug, name = $name, position = $position, version = version + 1
    where id = $id`
})
export const updateCategoryMetadata = metadataUpdateStatement(
  'catalog.update_category_metadata',
  'catalog.categories'
)
/** Moves a category with all categories below it: replaces the part of their paths above the category. */
export const moveCategorySubtree = statement({
  name: 'catalog.move_category_subtree',
  takes: { id: 'uuid', parent_id: 'uuid?' },
  text: `
    update catalog.categories set
      path = coalesce((select parents.path from catalog.categories parents where parents.id = $parent_id), '{}')
        || path[array_position(path, $id):]
    where path @> array[$id::uuid]`
})
/** Returns the new parent of a category if that parent is the category itself or below it. */
export const findCategoryCycle = statement({
  name: 'catalog.find_category_cycle',
  takes: { id: 'uuid', parent_id: 'uuid?' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.categories where id = $parent_id and path @> array[$id::uuid]'
})
export const findChildCategory = statement({
  name: 'catalog.find_category_child',
  takes: { id: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from catalog.categories where parent_id = $id limit 1'
})
export const deleteCategory = statement({
  name: 'catalog.delete_category',
  takes: { id: 'uuid' },
  text: 'delete from catalog.categories where id = $id'
})
/** Lists the products in this category and in those below it. */
export const listProductIdsInCategorySubtree = statement({
  name: 'catalog.list_products_below_category',
  takes: { id: 'uuid', limit: 'int8' },
  gives: { product_id: 'uuid' },
  text: `
    select distinct product_id from catalog.product_categories
    join catalog.categories on categories.id = product_categories.category_id
    where categories.path @> array[$id::uuid]
    limit $limit`
})
