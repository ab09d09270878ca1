import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Changes } from '../availability/changes.ts'
import type { Need, Part, Stock } from '../stock/state.ts'
import { listKits } from './repository.ts'

type Line = { readonly variantId: string; readonly quantity: number }
type Known = { parts: Map<string, Part[]>; of: Map<string, { variantId: string; quantity: number }[]> }

/** What kits are made of, all of it in memory: there are few. */
export function createKits({ db, changes }: { db: Queryable; changes: Changes }) {
  let known: Promise<Known> | undefined
  const forget = () => {
    known = undefined
  }
  changes.subscribe({ onChange: change => change === 'all' && forget(), onGap: forget })

  async function load(): Promise<Known> {
    const parts: Known['parts'] = new Map()
    const of: Known['of'] = new Map()
    for (const { variant_id: variantId, item_id: itemId, quantity } of await db.rows(listKits)) {
      parts.set(variantId, [...(parts.get(variantId) ?? []), { itemId, quantity }])
      of.set(itemId, [...(of.get(itemId) ?? []), { variantId, quantity }])
    }
    return { parts, of }
  }

  async function read(): Promise<Known> {
    const reading = changes.isLive() && known !== undefined ? known : load()
    if (changes.isLive()) known = reading
    return reading.catch(error => {
      if (known === reading) forget()
      throw error
    })
  }

  return {
    /** The lines with the parts of each; a variant that is no kit is its own part. */
    expand: async (lines: readonly Line[]): Promise<Need[]> => {
      const { parts } = await read()
      return lines.map(line => ({
        ...line,
        parts: parts.get(line.variantId) ?? [{ itemId: line.variantId, quantity: 1 }]
      }))
    },
    /** The kits that each of these items is a part of. */
    of: async (): Promise<Stock['kitsOf']> => (await read()).of
  }
}
export type Kits = ReturnType<typeof createKits>

/** How many of each item the needs are, all together. */
export function sumParts(needs: readonly Need[]): Part[] {
  const sums = new Map<string, number>()
  for (const { quantity, parts } of needs)
    for (const part of parts) sums.set(part.itemId, (sums.get(part.itemId) ?? 0) + part.quantity * quantity)
  return [...sums].map(([itemId, quantity]) => ({ itemId, quantity }))
}
