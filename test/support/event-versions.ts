import type { Module } from '../../src/module.ts'
import { isConnectionUnusable, isTooManyConnections } from '../../src/platform/postgres/errors.ts'
import type { TestShop } from '../../src/testing.ts'

/** The tables whose rows are subjects of events with a version, by the module that emits these events. */
const TABLES = { orders: 'orders.orders', catalog: 'catalog.products', reviews: 'reviews.reviews' } as const

/**
 * Finds events whose `subject_version` is not that of their transaction's commit. It differs from the row that the same
 * transaction wrote last, or is higher than that of a later row. Returns nothing when the database is not reachable.
 */
export async function wrongEventVersionsOf(
  { sql }: Pick<TestShop, 'sql'>,
  modules: readonly Pick<Module, 'name'>[] | undefined
): Promise<unknown[]> {
  const texts = Object.entries(TABLES)
    .filter(([module]) => modules === undefined || modules.some(({ name }) => name === module))
    .map(
      ([module, table]) => `
        select event.name, event.subject, event.subject_version, stored.version
        from cartwright.events event join ${table} stored on stored.id = event.subject
        where event.name like '${module}.%'
          and (event.subject_version > stored.version
            or event.xmin = stored.xmin and event.subject_version is distinct from stored.version)`
    )
  if (texts.length === 0) return []
  try {
    return await sql(texts.join(' union all '))
  } catch (error) {
    if (isUnreachable(error)) return []
    throw error
  }
}

/** A test may have stopped the database, used all of its connections, or closed the shop. */
const isUnreachable = (error: unknown): boolean =>
  isConnectionUnusable(error) ||
  isTooManyConnections(error) ||
  (error instanceof Error && error.message === 'Cannot use a pool after calling end on the pool')
