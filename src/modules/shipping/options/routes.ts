import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { inMarket } from '../../../kernel/wire.ts'
import type { MarketOf } from '../../pricing/index.ts'
import { RatesRequest, RatesResponse } from './schema.ts'
import type { OptionService } from './service.ts'

export function optionRoutes(tiers: Tiers, options: OptionService, marketOf: MarketOf): void {
  tiers.public.post(
    '/shipping/rates',
    {
      config: {
        inMaintenance: 'it changes nothing',
        class: 'account',
        unwritten: 'it asks what something costs'
      },
      schema: {
        ...inMarket,
        summary: 'What it costs to send something',
        body: RatesRequest,
        response: { 200: RatesResponse }
      }
    },
    async request => options.list(request.body, await marketOf(request))
  )
}
