import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { inMarket, marketNamed } from '../../../kernel/wire.ts'
import { OrderQuoteRequest, OrderQuoteResponse } from './schema.ts'
import type { Quotes } from './service.ts'

export function quoteRoutes(tiers: Tiers, quotes: Quotes): void {
  tiers.admin.post(
    '/admin/orders/quote',
    {
      config: { class: 'account', unwritten: 'it changes nothing' },
      schema: {
        ...inMarket,
        summary: 'What a checkout, a cart or items would cost, and why codes do not count',
        body: OrderQuoteRequest,
        response: { 200: OrderQuoteResponse }
      }
    },
    request => quotes.quote({ body: request.body, market: marketNamed(request) ?? null })
  )
}
