import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { marketParameters } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import { cartLineOfRequest, sendCartResponse } from '../carts/routes.ts'
import { CartMergeRequest, CartMergeResponse } from '../carts/schema.ts'
import type { CartMergeReport, CartMergeService, CartMergeSource } from './service.ts'

/** `POST /api/cart/merge` (specification, "Cart module wiring rules"). */
export function cartMergeRoutes(
  tiers: Tiers,
  { merge }: CartMergeService,
  marketOf: ResolveRequestMarket
): void {
  tiers.secured.post(
    '/cart/merge',
    {
      // A merge of 200 items costs as much as three writes to a cart.
      config: { class: 'checkout', countsAs: 2 },
      schema: {
        ...marketParameters,
        summary: 'Merge a guest cart',
        description:
          'Merges a guest cart, or items that a browser stored, into the cart of the customer. Call it after login. `strategy` decides quantities of variants in both carts. `merge.adjustments` lists quantities that limits or stock reduced. A guest cart token works once; the same customer can repeat the request without effect. 404 `CART_GUEST_NOT_FOUND`: the token is unknown, expired or used.',
        body: CartMergeRequest,
        response: { 200: CartMergeResponse }
      }
    },
    async (request, reply) => {
      const customer = { customerId: identityOf(request).userId, market: await marketOf(request) }
      const { strategy = 'sum' } = request.body
      const { view, report } = await merge(customer, sourceOf(request.body), strategy, writeOf(request))
      return sendCartResponse(reply, view, `"merge":${reportJson(report)},`)
    }
  )
}

const sourceOf = (body: CartMergeRequest): CartMergeSource =>
  'items' in body ? { items: body.items.map(cartLineOfRequest) } : { guestCartToken: body.guest_cart_token }

const reportJson = ({ adjustments, ...report }: CartMergeReport) =>
  JSON.stringify({
    ...report,
    adjustments: adjustments.map(({ variantId, ...cut }) => ({ variant_id: variantId, ...cut }))
  })
