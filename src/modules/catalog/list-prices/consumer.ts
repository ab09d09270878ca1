import type { Delivery, PayloadOf } from '../../../kernel/events.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PricingApi, pricesChanged } from '../../pricing/index.ts'
import type { Changes } from '../revision/changes.ts'
import { lockProducts } from '../stock/repository.ts'
import { refreshListPrices } from './jobs.ts'
import { type ListPrices, restsOn } from './service.ts'

/** Of more variants than these, in all lists that changed at the same time, the prices follow by a job. */
const VARIANTS_MAX = 2_000

type Changed = Delivery<PayloadOf<typeof pricesChanged>>
type Deps = {
  pricing: Pick<PricingApi, 'marketLists'>
  listPrices: Pick<ListPrices, 'reprice'>
  changes: Pick<Changes, 'announcePages'>
  enqueue: Enqueue
}

/** Brings what the catalog shows of prices in lists up to date, within `tx`: as they are now, whatever the order of events. */
export async function followPrices(
  tx: Transaction,
  events: readonly Changed[],
  { pricing, listPrices, changes, enqueue }: Deps
): Promise<void> {
  const lists = await pricing.marketLists(tx)
  const isShown = ({ payload }: Changed) => lists.some(list => restsOn(list, payload.list_id))
  const variants = events.reduce((sum, { payload }) => sum + (payload.variant_ids?.length ?? 0), 0)
  const isLater = ({ payload }: Changed) => payload.variant_ids === null || variants > VARIANTS_MAX
  // A list that is in no market any more is forgotten.
  for (const { payload } of events.filter(isLater))
    enqueue(tx, refreshListPrices, { list_id: payload.list_id }, { subject: payload.list_id })

  const now = events.filter(event => isShown(event) && !isLater(event))
  if (now.length > 0) {
    // All at once, in their order: others lock products, too.
    const variantIds = now.flatMap(({ payload }) => payload.variant_ids ?? [])
    const ids = (await tx.rows(lockProducts, { variantIds })).map(({ id }) => id)
    for (const { payload } of now) await listPrices.reprice(tx, ids, payload.list_id)
  }
  // Pages of products show more than their lowest prices.
  if (events.some(isShown)) changes.announcePages(tx)
}
