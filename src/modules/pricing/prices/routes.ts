import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import { IMPORT_BYTES_MAX } from '../files/import.ts'
import { csvAnswer, PricingImportResponse } from '../files/schema.ts'
import type { PriceFiles } from './csv.ts'
import {
  DeletePricesQuery,
  ListedPriceResponse,
  PriceParams,
  PricesQuery,
  SetPricesRequest
} from './schema.ts'
import type { PriceService } from './service.ts'

const config = { class: 'account' } as const

export function priceRoutes(tiers: Tiers, prices: PriceService, files: PriceFiles): void {
  tiers.admin.get(
    '/admin/price-lists/:id/prices',
    {
      config,
      schema: {
        summary: 'The prices of a list, by variant and quantity',
        params: IdParams,
        querystring: PricesQuery,
        response: { 200: listOf(ListedPriceResponse) }
      }
    },
    request => prices.list(request.params.id, request.query)
  )

  tiers.admin.put(
    '/admin/price-lists/:id/prices',
    {
      config,
      schema: {
        summary: 'Set prices of a list, all of these or none; its others stay',
        params: IdParams,
        body: SetPricesRequest,
        response: noContent
      }
    },
    request => prices.set(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/price-lists/:id/prices/:variantId',
    {
      config,
      schema: {
        summary: 'Delete the prices of a variant from a list, or one of them',
        params: PriceParams,
        querystring: DeletePricesQuery,
        response: noContent
      }
    },
    request =>
      prices.remove(
        request.params.id,
        request.params.variantId,
        request.query.from_quantity,
        writeOf(request)
      )
  )

  tiers.admin.get(
    '/admin/price-lists/:id/prices.csv',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'The prices of a list as a CSV file',
        params: IdParams,
        response: csvAnswer('A row for each variant and quantity.')
      }
    },
    async (request, reply) => {
      const file = await files.exportCsv(request.params.id)
      return reply.type('text/csv; charset=utf-8').send(file as never)
    }
  )

  tiers.admin.post(
    '/admin/price-lists/:id/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: IMPORT_BYTES_MAX },
        unwritten: 'the same file once more changes nothing'
      },
      schema: {
        summary: 'Set prices of a list by a CSV file, all of these or none; its others stay',
        params: IdParams,
        response: { 200: PricingImportResponse }
      }
    },
    request => files.importCsv(request.params.id, request.body, () => request.visit?.progressed())
  )
}
