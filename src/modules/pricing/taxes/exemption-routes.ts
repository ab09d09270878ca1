import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  CreateTaxExemptionRequest,
  TaxExemptionResponse,
  TaxExemptionsQuery,
  UpdateTaxExemptionRequest
} from './exemption-schema.ts'
import type { TaxExemptionService } from './exemption-service.ts'

const config = { class: 'account' } as const
const one = { params: IdParams, response: { 200: TaxExemptionResponse } }

export function taxExemptionRoutes(tiers: Tiers, exemptions: TaxExemptionService): void {
  tiers.admin.get(
    '/admin/taxes/exemptions',
    {
      config,
      schema: {
        summary: 'List tax exemptions',
        description:
          'Returns a page of tax exemptions, newest first. `customer_id` selects those of one customer.',
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
        summary: 'Create a tax exemption',
        description:
          'Exempts a customer from tax on orders to the given countries, for example a company with a VAT id. Checkouts and invoices show company and reason. 400 `PRICING_VAT_ID_INVALID`: the VAT id needs its country prefix and a valid check digit. 400 `PRICING_MOMENT_INVALID` or `PRICING_PERIOD_INVALID`: correct the start or the end. 409 `PRICING_TAX_LIMIT`: the maximum number exists.',
        body: CreateTaxExemptionRequest,
        response: { 201: TaxExemptionResponse }
      }
    },
    request => exemptions.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/exemptions/:id',
    {
      config,
      schema: {
        ...one,
        summary: 'Retrieve a tax exemption',
        description: 'Returns a tax exemption. 404 `PRICING_TAX_EXEMPTION_NOT_FOUND`: it does not exist.'
      }
    },
    request => exemptions.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/exemptions/:id',
    {
      config,
      schema: {
        ...one,
        summary: 'Update a tax exemption',
        description:
          'Updates a tax exemption; omitted fields stay. The customer cannot be changed. Existing orders keep their taxes. 400 `PRICING_VAT_ID_INVALID`: the VAT id needs its country prefix and a valid check digit. 400 `PRICING_MOMENT_INVALID` or `PRICING_PERIOD_INVALID`: correct the start or the end. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        body: UpdateTaxExemptionRequest
      }
    },
    request => exemptions.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/exemptions/:id',
    {
      config,
      schema: {
        summary: 'Delete a tax exemption',
        description:
          'Deletes a tax exemption. Existing orders keep their taxes. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => exemptions.remove(request.params.id, writeOf(request))
  )
}
