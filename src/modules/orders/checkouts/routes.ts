import { identityOf } from '../../../gateway/callers/identity.ts'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, inMarket, marketNamed } from '../../../kernel/wire.ts'
import type { Guesses } from './guesses.ts'
import { CheckoutRequest, CheckoutResponse } from './schema.ts'
import type { CheckoutService } from './service.ts'

/** `perMinute`: new checkouts of a caller. `guesses`: what is told of codes. */
export type Limits = { readonly perMinute: number; readonly guesses: Guesses }

/** One of 200 lines costs as much as eight writes to a cart. */
const config = { class: 'checkout', countsAs: 5 } as const
const own = { params: IdParams, response: { 200: CheckoutResponse } }

/** A checkout has the market that it was made in, or that the last change of it named: who only reads it names none. */
export function checkoutRoutes(
  tiers: Tiers,
  checkouts: CheckoutService,
  { perMinute, guesses }: Limits
): void {
  tiers.secured.post(
    '/checkouts',
    {
      config: { ...config, limit: { name: 'checkout', perMinute } },
      schema: {
        ...inMarket,
        summary: 'Begin a checkout',
        body: CheckoutRequest,
        response: { 201: CheckoutResponse }
      }
    },
    request => {
      const { userId } = identityOf(request)
      const said = { body: request.body, market: marketNamed(request) ?? null }
      return guesses(byAddress(request), request.body, () => checkouts.create(userId, said, writeOf(request)))
    }
  )

  tiers.secured.get(
    '/checkouts/:id',
    { config, schema: { ...own, summary: 'The checkout, and what it costs now' } },
    request => checkouts.read(identityOf(request).userId, request.params.id)
  )

  tiers.secured.put(
    '/checkouts/:id',
    {
      config,
      schema: { ...inMarket, ...own, summary: 'Say anew what is bought, and how', body: CheckoutRequest }
    },
    request => {
      const { userId } = identityOf(request)
      const said = { body: request.body, market: marketNamed(request) ?? null }
      return guesses(byAddress(request), request.body, () =>
        checkouts.replace(userId, request.params.id, said, writeOf(request))
      )
    }
  )

  tiers.secured.post('/checkouts/:id/cancel', { config, schema: { ...own, summary: 'Cancel it' } }, request =>
    checkouts.cancel(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
