import { identityOf, type Tiers, wire, writeOf } from 'cartwright'
import { AddWishRequest, WishResponse } from './schema.ts'
import type { WishService } from './service.ts'

const config = { class: 'account' } as const

export function wishRoutes(tiers: Tiers, wishes: WishService): void {
  tiers.secured.get(
    '/wishlist',
    {
      config,
      schema: {
        summary: 'The wishes of the caller, the newest first',
        querystring: wire.PageQuery,
        response: { 200: wire.listOf(WishResponse) }
      }
    },
    request => wishes.list(identityOf(request).userId, request.query)
  )

  tiers.secured.post(
    '/wishlist',
    {
      config,
      schema: { summary: 'Wish for a variant', body: AddWishRequest, response: { 201: WishResponse } }
    },
    request => wishes.add(identityOf(request).userId, request.body, writeOf(request))
  )

  tiers.secured.delete(
    '/wishlist/:id',
    { config, schema: { summary: 'Give a wish up', params: wire.IdParams, response: wire.noContent } },
    request => wishes.remove(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
