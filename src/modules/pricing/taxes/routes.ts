import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { IMPORT_BYTES_MAX } from '../files/import.ts'
import { csvAnswer, PricingImportResponse } from '../files/schema.ts'
import type { RateFiles } from './csv.ts'
import {
  CreateTaxCategoryRequest,
  CreateTaxRateRequest,
  CreateTaxZoneRequest,
  TaxCategoryResponse,
  TaxRateResponse,
  TaxRatesQuery,
  TaxZoneResponse,
  UpdateTaxCategoryRequest,
  UpdateTaxRateRequest,
  UpdateTaxZoneRequest
} from './schema.ts'
import type { TaxCategoryService, TaxRateService, TaxZoneService } from './service.ts'

const config = { class: 'account' } as const

export function categoryRoutes(tiers: Tiers, categories: TaxCategoryService): void {
  tiers.admin.get(
    '/admin/taxes/categories',
    {
      config,
      schema: {
        summary: 'All tax categories, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(TaxCategoryResponse) }
      }
    },
    request => categories.list(request.query)
  )

  tiers.admin.post(
    '/admin/taxes/categories',
    {
      config,
      schema: {
        summary: 'Create a tax category',
        body: CreateTaxCategoryRequest,
        response: { 201: TaxCategoryResponse }
      }
    },
    request => categories.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/categories/:id',
    {
      config,
      schema: { summary: 'Show a tax category', params: IdParams, response: { 200: TaxCategoryResponse } }
    },
    request => categories.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/categories/:id',
    {
      config,
      schema: {
        summary: 'Change a tax category',
        params: IdParams,
        body: UpdateTaxCategoryRequest,
        response: { 200: TaxCategoryResponse }
      }
    },
    request => categories.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/categories/:id',
    { config, schema: { summary: 'Delete a tax category', params: IdParams, response: noContent } },
    request => categories.remove(request.params.id, writeOf(request))
  )
}

export function zoneRoutes(tiers: Tiers, zones: TaxZoneService): void {
  tiers.admin.get(
    '/admin/taxes/zones',
    {
      config,
      schema: {
        summary: 'All tax zones, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(TaxZoneResponse) }
      }
    },
    request => zones.list(request.query)
  )

  tiers.admin.post(
    '/admin/taxes/zones',
    {
      config,
      schema: { summary: 'Create a tax zone', body: CreateTaxZoneRequest, response: { 201: TaxZoneResponse } }
    },
    request => zones.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/zones/:id',
    { config, schema: { summary: 'Show a tax zone', params: IdParams, response: { 200: TaxZoneResponse } } },
    request => zones.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/zones/:id',
    {
      config,
      schema: {
        summary: 'Change a tax zone',
        params: IdParams,
        body: UpdateTaxZoneRequest,
        response: { 200: TaxZoneResponse }
      }
    },
    request => zones.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/zones/:id',
    { config, schema: { summary: 'Delete a tax zone', params: IdParams, response: noContent } },
    request => zones.remove(request.params.id, writeOf(request))
  )
}

export function rateRoutes(tiers: Tiers, rates: TaxRateService, files: RateFiles): void {
  tiers.admin.get(
    '/admin/taxes/rates',
    {
      config,
      schema: {
        summary: 'All tax rates, the newest first',
        querystring: TaxRatesQuery,
        response: { 200: listOf(TaxRateResponse) }
      }
    },
    request => rates.list(request.query)
  )

  tiers.admin.post(
    '/admin/taxes/rates',
    {
      config,
      schema: { summary: 'Create a tax rate', body: CreateTaxRateRequest, response: { 201: TaxRateResponse } }
    },
    request => rates.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/rates/:id',
    { config, schema: { summary: 'Show a tax rate', params: IdParams, response: { 200: TaxRateResponse } } },
    request => rates.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/rates/:id',
    {
      config,
      schema: {
        summary: 'Change a tax rate',
        params: IdParams,
        body: UpdateTaxRateRequest,
        response: { 200: TaxRateResponse }
      }
    },
    request => rates.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/rates/:id',
    { config, schema: { summary: 'Delete a tax rate', params: IdParams, response: noContent } },
    request => rates.remove(request.params.id, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/rates.csv',
    {
      config: { class: 'bulk' },
      schema: { summary: 'All tax rates as a CSV file', response: csvAnswer('A row for each.') }
    },
    (_request, reply) => {
      reply.type('text/csv; charset=utf-8').send(files.exportCsv() as never)
    }
  )

  tiers.admin.post(
    '/admin/taxes/rates/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: IMPORT_BYTES_MAX },
        unwritten: 'the same file once more changes nothing'
      },
      schema: {
        summary: 'Set tax rates by a CSV file, all of these or none; others stay',
        response: { 200: PricingImportResponse }
      }
    },
    request => files.importCsv(request.body, () => request.visit?.progressed())
  )
}
