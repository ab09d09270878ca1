import type { JobDelivery, PayloadOf } from '../../kernel/events.ts'
import type { Enqueue } from '../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../platform/postgres/database.ts'
import type { InventoryApi, stockCrossedEvent } from '../inventory/index.ts'
import type { PricingApi, pricesChangedEvent } from '../pricing/index.ts'
import type { refreshLowestListPricesJob } from './list-prices/jobs.ts'
import type { createProductPricesInPriceLists } from './list-prices/service.ts'
import type { CatalogChangePublisher } from './revision/changes.ts'
import type { repriceManyProductsJob } from './revision/jobs.ts'
import { repriceChangedPriceLists } from './revision/list-price-subscriber.ts'
import type { CheapestVariantPriceService } from './revision/lowest-prices.ts'
import { refreshAllLowestListPrices } from './revision/refresh-list-prices.ts'
import { refreshVariantInStockFlags } from './stock/subscriber.ts'

type StockCrossedPayload = PayloadOf<typeof stockCrossedEvent>
type PricesChangedPayload = PayloadOf<typeof pricesChangedEvent>
type RefreshListPricesPayload = PayloadOf<typeof refreshLowestListPricesJob>
type RepriceProductsPayload = PayloadOf<typeof repriceManyProductsJob>

type Deps = {
  db: Database
  changes: CatalogChangePublisher
  enqueue: Enqueue
  listPrices: ReturnType<typeof createProductPricesInPriceLists>
  lowestPrices: CheapestVariantPriceService
  inventory: InventoryApi | undefined
  pricing: PricingApi | undefined
}

/** Creates the handlers of the catalog's events and jobs. */
export function createCatalogHandlers({
  db,
  changes,
  enqueue,
  listPrices,
  lowestPrices,
  inventory,
  pricing
}: Deps) {
  const eventHandlers = {
    // In a shop without inventory, stock events are ignored. `refreshAllStockStatuses` catches up when the
    // module is enabled again.
    'inventory.crossed': async (tx: Transaction, events: readonly JobDelivery<StockCrossedPayload>[]) => {
      const variantIds = events.flatMap(({ payload }) => payload.variant_ids)
      if (inventory !== undefined) await refreshVariantInStockFlags(tx, variantIds, { inventory, changes })
    },
    'pricing.prices_changed': async (
      tx: Transaction,
      events: readonly JobDelivery<PricesChangedPayload>[]
    ) => {
      if (pricing !== undefined)
        await repriceChangedPriceLists(tx, events, { pricing, listPrices, changes, enqueue })
    }
  }
  async function repriceAll(options: Parameters<typeof lowestPrices.repriceAll>[0]): Promise<void> {
    if ((await lowestPrices.repriceAll(options)) > 0)
      await db.transaction(async tx => changes.announcePages(tx))
  }
  const jobHandlers = {
    'catalog.reprice_products': ({ payload }: JobDelivery<RepriceProductsPayload>, signal: AbortSignal) =>
      repriceAll({ categoryId: payload.category_id, signal }),
    'catalog.apply_due_prices': lowestPrices.applyDueChanges,
    'catalog.check_prices': (_: JobDelivery, signal: AbortSignal) => repriceAll({ isSlow: true, signal }),
    'catalog.refresh_list_prices': async (
      { payload }: JobDelivery<RefreshListPricesPayload>,
      signal: AbortSignal
    ) => {
      if (pricing !== undefined)
        await refreshAllLowestListPrices({ db, changes, listPrices, pricing }, payload.list_id, signal)
    }
  }
  return { eventHandlers, jobHandlers, hasWork: { 'catalog.apply_due_prices': lowestPrices.hasDueChanges } }
}
