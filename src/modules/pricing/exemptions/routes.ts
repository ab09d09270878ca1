import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  CreateTaxExemptionRequest,
  TaxExemptionResponse,
  TaxExemptionsQuery,
  UpdateTaxExemptionRequest
} from './schema.ts'
import type { ExemptionService } from './service.ts'

const config = { class: 'account' } as const
const one = { params: IdParams, response: { 200: TaxExemptionResponse } }

export function exemptionRoutes(tiers: Tiers, exemptions: ExemptionService): void {
  tiers.admin.get(
    '/admin/taxes/exemptions',
    {
      config,
      schema: {
        summary: 'Customers who pay no tax, the newest first',
        querystring: TaxExemptionsQuery,
        response: { 200: listOf(TaxExemptionResponse) }
      }
    },
    request => exemptions.list(request.query)
  )

  tiers.admin.post(
    '/admin/taxes/exemptions',
    {
      config,
      schema: {
        summary: 'Exempt a customer from tax',
        body: CreateTaxExemptionRequest,
        response: { 201: TaxExemptionResponse }
      }
    },
    request => exemptions.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/exemptions/:id',
    { config, schema: { ...one, summary: 'Show an exemption from tax' } },
    request => exemptions.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/exemptions/:id',
    { config, schema: { ...one, summary: 'Change an exemption from tax', body: UpdateTaxExemptionRequest } },
    request => exemptions.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/exemptions/:id',
    { config, schema: { summary: 'Delete an exemption from tax', params: IdParams, response: noContent } },
    request => exemptions.remove(request.params.id, writeOf(request))
  )
}
