import type { FastifyRequest } from 'fastify'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, MarketHeaders, MarketQuery, marketNamed } from '../../../kernel/wire.ts'
import type { Limits } from '../checkouts/routes.ts'
import { CheckoutResponse, GuestCheckoutRequest, NewGuestCheckoutResponse } from '../checkouts/schema.ts'
import type { Claim, GuestCheckoutService } from './service.ts'

const TOKEN = 'x-checkout-token'
/** One of 200 lines costs as much as eight writes to a cart. */
const config = { class: 'checkout', countsAs: 5 } as const
const tags = ['guest checkouts']
const GuestHeaders = Type.Object({
  [TOKEN]: Type.Optional(Type.String({ description: 'The token that the checkout was made with.' }))
})
const own = { tags, params: IdParams, headers: GuestHeaders, response: { 200: CheckoutResponse } }

/** Checkouts of somebody without an account: the verbs of checkouts, for the holder of a token. */
export function guestCheckoutRoutes(
  tiers: Tiers,
  guests: GuestCheckoutService,
  { perMinute, guesses }: Limits
): void {
  tiers.public.post(
    '/checkouts/guest',
    {
      config: { ...config, secret: 201, limit: { name: 'checkout', perMinute } },
      schema: {
        tags,
        summary: 'Begin a checkout, without an account',
        querystring: MarketQuery,
        headers: MarketHeaders,
        body: GuestCheckoutRequest,
        response: { 201: NewGuestCheckoutResponse }
      }
    },
    request => {
      const said = { body: request.body, market: marketNamed(request) ?? null }
      return guesses(byAddress(request), request.body, () => guests.create(said, writeOf(request)))
    }
  )

  tiers.public.get(
    '/checkouts/guest/:id',
    { config, schema: { ...own, summary: 'The checkout, and what it costs now' } },
    request => guests.read(claimOf(request, request.params.id))
  )

  tiers.public.put(
    '/checkouts/guest/:id',
    {
      config,
      schema: {
        ...own,
        summary: 'Say anew what is bought, and how',
        querystring: MarketQuery,
        headers: Type.Object({ ...MarketHeaders.properties, ...GuestHeaders.properties }),
        body: GuestCheckoutRequest
      }
    },
    request => {
      const claim = claimOf(request, request.params.id)
      const said = { body: request.body, market: marketNamed(request) ?? null }
      return guesses(byAddress(request), request.body, () => guests.replace(claim, said, writeOf(request)))
    }
  )

  tiers.public.post(
    '/checkouts/guest/:id/cancel',
    { config, schema: { ...own, summary: 'Cancel it' } },
    request => guests.cancel(claimOf(request, request.params.id), writeOf(request))
  )
}

const claimOf = ({ headers }: Pick<FastifyRequest, 'headers'>, id: string): Claim => ({
  id,
  token: headers[TOKEN] as string | undefined
})
