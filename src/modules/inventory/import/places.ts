import type { Queryable } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** Finds the id of a location by its code or, when no other has it, its name; null: the one that is taken from first. */
export type FindPlace = (called: string | null) => { id: string } | { problem: string }

export async function readPlaces(db: Queryable): Promise<FindPlace> {
  const places = await db.rows(repository.listPlaces)
  const home = places.find(({ active }) => active)
  const byCode = new Map(places.map(({ code, id }) => [code, id]))
  const byName = Map.groupBy(places, ({ name }) => name.trim().toLowerCase())

  return called => {
    if (called === null) return home ?? { problem: 'No location is in use.' }
    const word = called.toLowerCase()
    const id = byCode.get(word)
    if (id !== undefined) return { id }
    const [only, second] = byName.get(word) ?? []
    if (only === undefined) return { problem: 'There is no location with this code or name.' }
    return second === undefined ? only : { problem: 'Several locations have this name; use the code.' }
  }
}
