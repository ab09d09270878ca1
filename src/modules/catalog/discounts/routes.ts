import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateDiscountRequest, DiscountResponse, UpdateDiscountRequest } from './schema.ts'
import type { CatalogDiscountService } from './service.ts'

const config = { class: 'account' } as const

export function discountRoutes(tiers: Tiers, discounts: CatalogDiscountService): void {
  tiers.admin.get(
    '/catalog/discounts',
    {
      config,
      schema: {
        summary: 'List catalog discounts',
        description:
          'Returns a page of discounts, newest first. Expired and inactive discounts are included.',
        querystring: PageQuery,
        response: { 200: listOf(DiscountResponse) }
      }
    },
    request => discounts.list(request.query)
  )

  tiers.admin.post(
    '/catalog/discounts',
    {
      config,
      schema: {
        summary: 'Create a catalog discount',
        description:
          'Creates a discount on a product, a variant or a category. It reduces prices in the storefront while it is active. 404 `CATALOG_TARGET_NOT_FOUND`: `target_id` does not exist. 400 `CATALOG_DISCOUNT_PERIOD`: `ends_at` must be after `starts_at`.',
        body: CreateDiscountRequest,
        response: { 201: DiscountResponse }
      }
    },
    request => discounts.create(request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/discounts/:id',
    {
      config,
      schema: {
        summary: 'Update a catalog discount',
        description:
          'Updates the name, value or period of a discount; omitted fields stay. Its target cannot be changed: create another discount instead. 400 `CATALOG_DISCOUNT_PERIOD`: `ends_at` must be after `starts_at`. 412 `CATALOG_DISCOUNT_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateDiscountRequest,
        response: { 200: DiscountResponse }
      }
    },
    request => discounts.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/discounts/:id',
    {
      config,
      schema: {
        summary: 'Delete a catalog discount',
        description:
          'Deletes a discount. Prices change immediately. 404 `CATALOG_DISCOUNT_NOT_FOUND`: it does not exist. 412 `CATALOG_DISCOUNT_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => discounts.remove(request.params.id, writeOf(request))
  )
}
