import type { Delivery } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { Staff } from '../messages/staff.ts'

type Crossed = {
  readonly variant_ids: readonly string[]
  readonly available: number | null
  readonly status: 'out' | 'low' | 'in' | 'untracked'
}
type Deps = { catalog: Pick<CatalogApi, 'quote'> | undefined; staff: Staff }

const template = 'low_stock'

/** Tells those who look after the shop when something runs low, or out. */
export function createStockHearing({ catalog, staff }: Deps) {
  return {
    'inventory.crossed': async (tx: Transaction, events: readonly Delivery<Crossed>[]): Promise<void> => {
      if (catalog === undefined || !staff.isTold(template)) return
      const told = events.filter(({ payload: { status } }) => status === 'low' || status === 'out')
      const ids = [...new Set(told.flatMap(({ payload }) => payload.variant_ids))]
      if (ids.length === 0) return
      const wanted = ids.map(variantId => ({ variantId, quantity: 1 }))
      const known = (await catalog.quote(tx, wanted, null)).flatMap(variant => variant ?? [])
      const runLow = told.flatMap(({ id: origin, payload: { variant_ids, status, available } }) => {
        const variants = known
          .filter(({ variantId }) => variant_ids.includes(variantId))
          .map(({ sku, name, variantName }) => ({
            sku,
            name: variantName === '' ? name : `${name}, ${variantName}`
          }))
        // All of it is gone from the catalog: nobody has to order more.
        if (variants.length === 0) return []
        return { origin, data: { status, available: available ?? 0, variants } }
      })
      await staff.tell(tx, template, runLow)
    }
  }
}
