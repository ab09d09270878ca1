import type { Delivery, PayloadOf } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { unpaidStockHigh } from '../../orders/index.ts'
import type { Staff } from '../messages/staff.ts'

type Crossed = {
  readonly variant_ids: readonly string[]
  readonly available: number | null
  readonly status: 'out' | 'low' | 'in' | 'untracked'
}
type Deps = { catalog: Pick<CatalogApi, 'quote'> | undefined; staff: Staff }

type UnpaidStock = PayloadOf<typeof unpaidStockHigh>
type Known = {
  readonly variantId: string
  readonly sku: string
  readonly name: string
  readonly variantName: string
}

const template = 'low_stock'
/** Variants that a mail names. */
const VARIANTS_MAX = 10

/** What a mail calls a variant. */
const titleOf = ({ sku, name, variantName }: Known) => ({
  sku,
  name: variantName === '' ? name : `${name}, ${variantName}`
})

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
        const variants = known.filter(({ variantId }) => variant_ids.includes(variantId)).map(titleOf)
        // All of it is gone from the catalog: nobody has to order more.
        if (variants.length === 0) return []
        return { origin, data: { status, available: available ?? 0, variants } }
      })
      await staff.tell(tx, template, runLow)
    },

    'orders.unpaid_stock_high': async (
      tx: Transaction,
      events: readonly Delivery<UnpaidStock>[]
    ): Promise<void> => {
      if (catalog === undefined || !staff.isTold('unpaid_stock')) return
      const ids = [
        ...new Set(events.flatMap(({ payload }) => payload.variants.map(({ variant_id }) => variant_id)))
      ]
      const wanted = ids.map(variantId => ({ variantId, quantity: 1 }))
      const known = (await catalog.quote(tx, wanted, null)).flatMap(variant => variant ?? [])
      const drafts = events.map(({ id: origin, payload: { variants, ...sums } }) => {
        const listed = variants.slice(0, VARIANTS_MAX).flatMap(({ variant_id, units, percent }) => {
          const variant = known.find(({ variantId }) => variantId === variant_id)
          return variant === undefined ? [] : { ...titleOf(variant), units, percent }
        })
        return { origin, data: { ...sums, variants: listed } }
      })
      await staff.tell(tx, 'unpaid_stock', drafts)
    }
  }
}
