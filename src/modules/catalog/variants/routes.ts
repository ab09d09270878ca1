import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { CreateVariantRequest, UpdateVariantRequest, VersionedVariantResponse } from './schema.ts'
import type { VariantService } from './service.ts'

const config = { class: 'account' } as const

/** Their ETag is the version of the product. */
export function variantRoutes(tiers: Tiers, variants: VariantService): void {
  tiers.admin.post(
    '/catalog/products/:id/variants',
    {
      config,
      schema: {
        summary: 'Add a variant to a product',
        params: IdParams,
        body: CreateVariantRequest,
        response: { 201: VersionedVariantResponse }
      }
    },
    request => variants.create(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/variants/:id',
    {
      config,
      schema: {
        summary: 'Change a variant',
        params: IdParams,
        body: UpdateVariantRequest,
        response: { 200: VersionedVariantResponse }
      }
    },
    request => variants.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/variants/:id',
    { config, schema: { summary: 'Delete a variant', params: IdParams, response: noContent } },
    request => variants.remove(request.params.id, writeOf(request))
  )
}
