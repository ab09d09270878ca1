import type { Queryable } from '../../../platform/postgres/database.ts'
import { type Rules, rulesOf } from '../rates/options.ts'
import * as repository from './repository.ts'

/** All that is asked for rates, as it is at one moment. */
export async function readRules(db: Queryable): Promise<Rules> {
  const { zones = [], methods = [], rates = [] } = (await db.first(repository.readRules)) ?? {}
  return rulesOf(zones, methods, rates)
}
