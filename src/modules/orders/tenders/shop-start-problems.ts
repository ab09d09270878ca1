import type { PortReader } from '../../../kernel/ports.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { tenderPort } from './port.ts'
import { countOrdersWithTendersOfOtherTypes } from './repository.ts'

/** Finds tenders of open orders that no module could refund. */
export async function findTenderStartProblems({
  db,
  ports
}: {
  db: Queryable
  ports: PortReader
}): Promise<string[]> {
  const types = ports.all(tenderPort).map(({ name }) => name)
  const held = await db.rows(countOrdersWithTendersOfOtherTypes, { types })
  return held.map(
    ({ type, total }) =>
      `the tender provider ${type} is gone, and ${total} open orders hold its tenders: enable it again, and remove it when they are completed or canceled`
  )
}
