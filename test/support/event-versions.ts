import { DomainError } from '../../src/kernel/errors.ts'
import type { Module } from '../../src/module.ts'
import { statement } from '../../src/platform/postgres/statement.ts'
import type { TestShop } from '../../src/testing.ts'

/** The tables whose rows are subjects of events with a version, by the module that emits these events. */
const TABLES = { orders: 'orders.orders', catalog: 'catalog.products', reviews: 'reviews.reviews' } as const

const wrongVersions = Object.entries(TABLES).map(([module, table]) => ({
  module,
  find: statement({
    name: `test.wrong_event_versions_of_${module}`,
    gives: { name: 'text', subject: 'uuid', subject_version: 'int4?', version: 'int8' },
    text: `
      select event.name, event.subject, event.subject_version, stored.version::int8
      from cartwright.events event join ${table} stored on stored.id = event.subject
      where event.name like '${module}.%'
        and (event.subject_version > stored.version
          or event.xmin = stored.xmin and event.subject_version is distinct from stored.version)`
  })
}))

/**
 * Finds events whose `subject_version` is not that of their transaction's commit. It differs from the row that the same
 * transaction wrote last, or is higher than that of a later row. Returns nothing when the database is not reachable.
 * Reads over the shared connection, which is open already.
 */
export async function wrongEventVersionsOf(
  { db }: Pick<TestShop, 'db'>,
  modules: readonly Pick<Module, 'name'>[] | undefined
): Promise<unknown[]> {
  const wanted = wrongVersions.filter(
    ({ module }) => modules === undefined || modules.some(({ name }) => name === module)
  )
  try {
    return (await Promise.all(wanted.map(({ find }) => db.rows(find)))).flat()
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'unavailable') return []
    throw error
  }
}
