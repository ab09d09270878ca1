import type { JobDelivery, PayloadOf } from '../../../kernel/events.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PricingApi, pricesChangedEvent } from '../../pricing/index.ts'
import { refreshLowestListPricesJob } from '../list-prices/jobs.ts'
import { inheritsFromPriceList, type ProductPricesInPriceLists } from '../list-prices/service.ts'
import type { CatalogChangePublisher } from './changes.ts'
import { lockProductsOfVariants } from './repository.ts'

/**
 * Maximum number of variants, over all events of a batch, that are repriced immediately. A job reprices more.
 */
const VARIANTS_MAX = 2_000

type Changed = JobDelivery<PayloadOf<typeof pricesChangedEvent>>
type Deps = {
  pricing: Pick<PricingApi, 'marketLists'>
  listPrices: Pick<ProductPricesInPriceLists, 'reprice'>
  changes: Pick<CatalogChangePublisher, 'announcePages'>
  enqueue: Enqueue
}

/**
 * Updates the lowest prices in changed price lists, within `tx`. Reads present prices, so the order of events
 * is irrelevant.
 */
export async function repriceChangedPriceLists(
  tx: Transaction,
  events: readonly Changed[],
  { pricing, listPrices, changes, enqueue }: Deps
): Promise<void> {
  const lists = await pricing.marketLists(tx)
  const isShown = ({ payload }: Changed) => lists.some(list => inheritsFromPriceList(list, payload.list_id))
  const variants = events.reduce((sum, { payload }) => sum + (payload.variant_ids?.length ?? 0), 0)
  const isLater = ({ payload }: Changed) => payload.variant_ids === null || variants > VARIANTS_MAX
  // The job also deletes the prices of lists that no market has.
  for (const { payload } of events.filter(isLater))
    enqueue(tx, refreshLowestListPricesJob, { list_id: payload.list_id }, { subject: payload.list_id })

  const now = events.filter(event => isShown(event) && !isLater(event))
  if (now.length > 0) {
    // All products are locked in one statement, ordered by id, to prevent deadlocks with other transactions.
    const variantIds = now.flatMap(({ payload }) => payload.variant_ids ?? [])
    const ids = (await tx.rows(lockProductsOfVariants, { variantIds })).map(({ id }) => id)
    for (const { payload } of now) await listPrices.reprice(tx, ids, payload.list_id)
  }
  // Product pages also show prices that are not the lowest.
  if (events.some(isShown)) changes.announcePages(tx)
}
