import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Crossings } from './crossings.ts'
import * as repository from './repository.ts'

/** What somebody says of a variant; what is left out stays. */
export type Description = {
  readonly variantId: string
  readonly sku: string
  readonly tracked?: boolean
  readonly backorder?: 'none' | 'any'
}

type Described = repository.ItemRow & { sku: string }

/** How many are said to the database at once. */
const CHUNK = 500

/** See `InventoryApi.describe`. Said twice, it changes nothing the second time. */
export const createDescribe =
  (crossings: Crossings) =>
  async (tx: Transaction, variants: readonly Description[]): Promise<void> => {
    for (let start = 0; start < variants.length; start += CHUNK)
      await describeSome(tx, variants.slice(start, start + CHUNK), crossings)
  }

async function describeSome(tx: Transaction, variants: readonly Description[], crossings: Crossings) {
  const said = new Map(variants.map(each => [each.variantId, each]))
  const ids = [...said.keys()]
  await tx.run(repository.insertItems, { ids })
  const stored = await tx.rows(repository.lockItems, { ids })
  const changed: Described[] = []
  const countedOtherwise: Described[] = []
  for (const item of stored) {
    const fresh = merge(item, said.get(item.id) as Description)
    const isOther = fresh.tracked !== item.tracked || fresh.backorder !== item.backorder
    if (isOther) countedOtherwise.push(fresh)
    if (isOther || fresh.sku !== item.sku) changed.push(fresh)
  }
  if (changed.length === 0) return
  await tx.run(repository.updateItems, {
    ids: changed.map(({ id }) => id),
    skus: changed.map(({ sku }) => sku),
    tracked: changed.map(({ tracked }) => tracked),
    backorders: changed.map(({ backorder }) => backorder),
    limits: changed.map(({ backorder_limit }) => backorder_limit ?? -1)
  })
  if (countedOtherwise.length > 0) await crossings.announce(tx, countedOtherwise)
}

/** A rule that is said takes the place of another, with the limit that belonged to it. */
function merge(item: repository.ItemRow, { sku, tracked, backorder }: Description): Described {
  const rule = backorder === undefined ? {} : { backorder, backorder_limit: null }
  return { ...item, sku, ...(tracked !== undefined && { tracked }), ...rule }
}
