import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot } from '../../../gateway/writes/write.ts'
import { marketParameters } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import { ShippingRatesRequest, ShippingRatesResponse } from './schema.ts'
import type { ShippingEstimateService } from './service.ts'

export function shippingEstimateRoutes(
  tiers: Tiers,
  options: ShippingEstimateService,
  marketOf: ResolveRequestMarket
): void {
  tiers.public.post(
    '/shipping/rates',
    {
      config: {
        allowedInMaintenance: 'it changes nothing',
        class: 'account',
        noReplay: 'it only computes costs'
      },
      schema: {
        ...marketParameters,
        summary: 'Estimate shipping costs',
        description:
          'Returns the shipping options for items, or for a weight and a value, to a destination, cheapest first. The currency is that of the market. Options of carriers with live prices are omitted while the carrier does not respond. Needs no token and changes nothing. An empty list means that the shop does not deliver there. 400 `SHIPPING_REGION_INVALID`: the region is unknown or too large. 409 `SHIPPING_VARIANT_UNAVAILABLE`: `variant_id` is not for sale in this market. 429 `PROVIDER_REQUESTS_LIMITED`: too many different parcels for carriers with live prices; wait for the seconds in `Retry-After`.',
        body: ShippingRatesRequest,
        response: { 200: ShippingRatesResponse }
      }
    },
    async request =>
      options.list(request.body, await marketOf(request), {
        withoutSlot: createRunWithoutRequestSlot(request),
        clientNetwork: callerNetwork(request)
      })
  )
}
