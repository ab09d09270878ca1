import type { JobDelivery, PayloadOf } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { unpaidStockHighEvent } from '../../orders/index.ts'
import type { StaffMailQueue } from '../messages/staff-mails.ts'

type StockCrossed = {
  readonly variant_ids: readonly string[]
  readonly available: number | null
  readonly status: 'out' | 'low' | 'in' | 'untracked'
}
type Deps = { catalog: Pick<CatalogApi, 'quote'> | undefined; staff: StaffMailQueue }

type UnpaidStockHigh = PayloadOf<typeof unpaidStockHighEvent>
type VariantNames = {
  readonly variantId: string
  readonly sku: string
  readonly name: string
  readonly variantName: string
}

/** Variants that a mail lists. */
const VARIANTS_MAX = 10

const titleOf = ({ sku, name, variantName }: VariantNames) => ({
  sku,
  name: variantName === '' ? name : `${name}, ${variantName}`
})

/** Queues mails to staff about low stock, and about stock that unpaid orders reserve. */
export function createStockMailSubscriber({ catalog, staff }: Deps) {
  return {
    'inventory.crossed': async (
      tx: Transaction,
      events: readonly JobDelivery<StockCrossed>[]
    ): Promise<void> => {
      if (catalog === undefined || !staff.isEnabled('low_stock')) return
      const lowEvents = events.filter(({ payload: { status } }) => status === 'low' || status === 'out')
      const ids = [...new Set(lowEvents.flatMap(({ payload }) => payload.variant_ids))]
      if (ids.length === 0) return
      const lines = ids.map(variantId => ({ variantId, quantity: 1 }))
      const known = (await catalog.quote(tx, lines, null)).flatMap(variant => variant ?? [])
      const drafts = lowEvents.flatMap(({ id, payload: { variant_ids, status, available } }) => {
        const variants = known.filter(({ variantId }) => variant_ids.includes(variantId)).map(titleOf)
        // Every variant was deleted from the catalog, so there is nothing to reorder.
        if (variants.length === 0) return []
        return { sourceId: id, data: { status, available: available ?? 0, variants } }
      })
      await staff.notify(tx, 'low_stock', drafts)
    },

    'orders.unpaid_stock_high': async (
      tx: Transaction,
      events: readonly JobDelivery<UnpaidStockHigh>[]
    ): Promise<void> => {
      if (catalog === undefined || !staff.isEnabled('unpaid_stock')) return
      const ids = [
        ...new Set(events.flatMap(({ payload }) => payload.variants.map(({ variant_id }) => variant_id)))
      ]
      const lines = ids.map(variantId => ({ variantId, quantity: 1 }))
      const known = (await catalog.quote(tx, lines, null)).flatMap(variant => variant ?? [])
      const drafts = events.map(({ id, payload: { variants, ...sums } }) => {
        const listed = variants.slice(0, VARIANTS_MAX).flatMap(({ variant_id, units, percent }) => {
          const variant = known.find(({ variantId }) => variantId === variant_id)
          return variant === undefined ? [] : { ...titleOf(variant), units, percent }
        })
        return { sourceId: id, data: { ...sums, variants: listed } }
      })
      await staff.notify(tx, 'unpaid_stock', drafts)
    }
  }
}
