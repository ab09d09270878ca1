import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { inMarket } from '../../../kernel/wire.ts'
import type { MarketOf } from '../../pricing/index.ts'
import { lineOf, sendCart } from '../carts/routes.ts'
import { MergeRequest, MergeResponse } from '../carts/schema.ts'
import type { MergeReport, MergeService, MergeSource } from './service.ts'

/** `POST /api/cart/merge`, a route of its own (specification, "Cart module wiring rules"). */
export function mergeRoutes(tiers: Tiers, { merge }: MergeService, marketOf: MarketOf): void {
  tiers.secured.post(
    '/cart/merge',
    {
      // With 200 items it costs as much as three writes to a cart.
      config: { class: 'checkout', countsAs: 2 },
      schema: {
        ...inMarket,
        summary: "Merge a guest's cart into the account's",
        body: MergeRequest,
        response: { 200: MergeResponse }
      }
    },
    async (request, reply) => {
      const customer = { customerId: identityOf(request).userId, market: await marketOf(request) }
      const { strategy = 'sum' } = request.body
      const { view, report } = await merge(customer, sourceOf(request.body), strategy, writeOf(request))
      return sendCart(reply, view, `"merge":${reportJson(report)},`)
    }
  )
}

const sourceOf = (body: MergeRequest): MergeSource =>
  'items' in body ? { items: body.items.map(lineOf) } : { guestCartToken: body.guest_cart_token }

const reportJson = ({ adjustments, ...report }: MergeReport) =>
  JSON.stringify({
    ...report,
    adjustments: adjustments.map(({ variantId, ...cut }) => ({ variant_id: variantId, ...cut }))
  })
