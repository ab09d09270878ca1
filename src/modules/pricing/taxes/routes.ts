import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import {
  csvFileResponseSchema,
  PRICING_IMPORT_BYTES_MAX,
  PricingImportResponse
} from '../input-formats/csv-import.ts'
import type { TaxRateCsv } from './csv.ts'
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

export function taxCategoryRoutes(tiers: Tiers, categories: TaxCategoryService): void {
  tiers.admin.get(
    '/admin/taxes/categories',
    {
      config,
      schema: {
        summary: 'List tax categories',
        description:
          'Returns a page of tax categories, newest first. A category groups what is taxed alike, such as books.',
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
        description:
          'Creates a tax category. Variants and shipping methods name it by its `code`, which cannot be changed. 409 `PRICING_TAX_CATEGORY_TAKEN`: choose another code. 409 `PRICING_TAX_LIMIT`: the maximum number exists.',
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
      schema: {
        summary: 'Retrieve a tax category',
        description: 'Returns a tax category. 404 `PRICING_TAX_CATEGORY_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: TaxCategoryResponse }
      }
    },
    request => categories.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/categories/:id',
    {
      config,
      schema: {
        summary: 'Update a tax category',
        description:
          'Updates the name of a tax category. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateTaxCategoryRequest,
        response: { 200: TaxCategoryResponse }
      }
    },
    request => categories.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/categories/:id',
    {
      config,
      schema: {
        summary: 'Delete a tax category',
        description:
          'Deletes a tax category. 409 `PRICING_TAX_CATEGORY_IN_USE`: delete its rates first; `standard` and `untaxed` cannot be deleted. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => categories.remove(request.params.id, writeOf(request))
  )
}

export function taxZoneRoutes(tiers: Tiers, zones: TaxZoneService): void {
  tiers.admin.get(
    '/admin/taxes/zones',
    {
      config,
      schema: {
        summary: 'List tax zones',
        description:
          'Returns a page of tax zones, newest first. A zone is a country, a region or a range of postal codes.',
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
      schema: {
        summary: 'Create a tax zone',
        description:
          'Creates a tax zone: a country, a region of it, or postal codes. The most specific zone with a rate for the category decides the tax. Add rates next. 400 `PRICING_TAX_REGION_INVALID` or `PRICING_TAX_PATTERN_INVALID`: `errors` state the accepted formats. 409 `PRICING_TAX_ZONE_TAKEN`: another zone covers exactly this place. 409 `PRICING_TAX_LIMIT`: the maximum number exists.',
        body: CreateTaxZoneRequest,
        response: { 201: TaxZoneResponse }
      }
    },
    request => zones.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/zones/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a tax zone',
        description: 'Returns a tax zone. 404 `PRICING_TAX_ZONE_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: TaxZoneResponse }
      }
    },
    request => zones.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/zones/:id',
    {
      config,
      schema: {
        summary: 'Update a tax zone',
        description:
          'Updates a tax zone; omitted fields stay. 400 `PRICING_TAX_REGION_INVALID` or `PRICING_TAX_PATTERN_INVALID`: `errors` state the accepted formats. 409 `PRICING_TAX_ZONE_TAKEN`: another zone covers exactly this place. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateTaxZoneRequest,
        response: { 200: TaxZoneResponse }
      }
    },
    request => zones.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/zones/:id',
    {
      config,
      schema: {
        summary: 'Delete a tax zone',
        description:
          'Deletes a tax zone without rates. 409 `PRICING_TAX_ZONE_IN_USE`: delete its rates first. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => zones.remove(request.params.id, writeOf(request))
  )
}

export function taxRateRoutes(tiers: Tiers, rates: TaxRateService, files: TaxRateCsv): void {
  tiers.admin.get(
    '/admin/taxes/rates',
    {
      config,
      schema: {
        summary: 'List tax rates',
        description: 'Returns a page of tax rates, newest first. `zone_id` selects those of one zone.',
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
      schema: {
        summary: 'Create a tax rate',
        description:
          'Creates the tax rate of a category in a zone, with an optional period. Use periods to prepare a change of the rate. 404 `PRICING_TAX_ZONE_NOT_FOUND` or `PRICING_TAX_CATEGORY_NOT_FOUND`: create it first. 400 `PRICING_MOMENT_INVALID` or `PRICING_PERIOD_INVALID`: correct the start or the end. 409 `PRICING_TAX_RATE_OVERLAP`: the zone has another rate of this category at that time; end it first.',
        body: CreateTaxRateRequest,
        response: { 201: TaxRateResponse }
      }
    },
    request => rates.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/rates/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a tax rate',
        description: 'Returns a tax rate. 404 `PRICING_TAX_RATE_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: TaxRateResponse }
      }
    },
    request => rates.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/taxes/rates/:id',
    {
      config,
      schema: {
        summary: 'Update a tax rate',
        description:
          'Updates a tax rate; omitted fields stay. Zone and category cannot be changed. Existing orders keep their taxes. 400 `PRICING_MOMENT_INVALID` or `PRICING_PERIOD_INVALID`: correct the start or the end. 409 `PRICING_TAX_RATE_OVERLAP`: the zone has another rate of this category at that time; end it first. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateTaxRateRequest,
        response: { 200: TaxRateResponse }
      }
    },
    request => rates.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/taxes/rates/:id',
    {
      config,
      schema: {
        summary: 'Delete a tax rate',
        description:
          'Deletes a tax rate. Existing orders keep their taxes. 412 `PRICING_TAX_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => rates.remove(request.params.id, writeOf(request))
  )

  tiers.admin.get(
    '/admin/taxes/rates.csv',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Export tax rates',
        description:
          'Returns all tax rates with their zones as a CSV file. The import accepts the same format.',
        response: csvFileResponseSchema('A CSV file with one row per tax rate.')
      }
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
        body: { stream: 'text/csv', bytesMax: PRICING_IMPORT_BYTES_MAX },
        noReplay: 'a retry with the same file changes nothing'
      },
      schema: {
        summary: 'Import tax rates',
        description:
          'Creates or updates tax rates and their zones from a CSV file: all rows or none. A row updates the rate of its zone, category and start. Rates that the file does not name stay. Sending the file again is safe. 400 `PRICING_IMPORT_FAILED`: nothing changed; `report` names the wrong rows. 409 `PRICING_TAX_RATE_OVERLAP`: two rates of one zone and category overlap.',
        response: { 200: PricingImportResponse }
      }
    },
    request => files.importCsv(request.body, () => request.slot?.reportProgress())
  )
}
