import type { CategoryNodeResponse, CategoryResponse } from './schema.ts'

/** The categories, each with those below it. They come, and stay, in the order in which they are shown. */
export function treeOf(categories: readonly CategoryResponse[]): CategoryNodeResponse[] {
  const nodes = new Map<string, CategoryNodeResponse>()
  for (const category of categories) nodes.set(category.id, { ...category, children: [] })
  const roots: CategoryNodeResponse[] = []
  for (const node of nodes.values()) {
    const siblings = node.parent_id === null ? roots : nodes.get(node.parent_id)?.children
    siblings?.push(node)
  }
  return roots
}
