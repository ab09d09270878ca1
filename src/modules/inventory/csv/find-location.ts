import type { Queryable } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/**
 * Finds a location by code or, if no code matches, by name. Null: the active location with the lowest
 * priority number.
 */
export type StockLocationFinder = (called: string | null) => { id: string } | { problem: string }

export async function createStockLocationFinder(db: Queryable): Promise<StockLocationFinder> {
  const places = await db.rows(repository.listAllStockLocations)
  const home = places.find(({ active }) => active)
  const byCode = new Map(places.map(({ code, id }) => [code, id]))
  const byName = Map.groupBy(places, ({ name }) => name.trim().toLowerCase())

  return called => {
    if (called === null) return home ?? { problem: 'No location is active.' }
    const word = called.toLowerCase()
    const id = byCode.get(word)
    if (id !== undefined) return { id }
    const [only, second] = byName.get(word) ?? []
    if (only === undefined) return { problem: 'There is no location with this code or name.' }
    return second === undefined ? only : { problem: 'Several locations have this name. Use the code.' }
  }
}
