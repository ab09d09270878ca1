import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { RatesRequest, RatesResponse } from './schema.ts'
import type { OptionService } from './service.ts'

export function optionRoutes(tiers: Tiers, options: OptionService): void {
  tiers.public.post(
    '/shipping/rates',
    {
      config: { class: 'account', unwritten: 'it asks what something costs' },
      schema: {
        summary: 'What it costs to send something',
        body: RatesRequest,
        response: { 200: RatesResponse }
      }
    },
    request => options.list(request.body)
  )
}
