import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  csvFileResponseSchema,
  PRICING_IMPORT_BYTES_MAX,
  PricingImportResponse
} from '../input-formats/csv-import.ts'
import type { PriceListCsv } from './csv.ts'
import {
  DeletePricesQuery,
  ListedPriceResponse,
  PriceListPricesQuery,
  SetPricesRequest,
  VariantPriceParams
} from './schema.ts'
import type { PriceService } from './service.ts'

const config = { class: 'account' } as const

export function priceRoutes(tiers: Tiers, prices: PriceService, files: PriceListCsv): void {
  tiers.admin.get(
    '/admin/price-lists/:id/prices',
    {
      config,
      schema: {
        summary: "List a price list's prices",
        description:
          'Returns a page of the prices of a list, by variant and minimum quantity. 404 `PRICING_PRICE_LIST_NOT_FOUND`: the list does not exist.',
        params: IdParams,
        querystring: PriceListPricesQuery,
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
        summary: "Set a price list's prices",
        description:
          'Sets up to 1,000 prices of a list: all of them or none. Prices that the request does not name stay. 400 `PRICING_PRICE_TWICE`: the request has two prices for the same variant and quantity. 409 `PRICING_BREAK_LIMIT`: `limit` is the most prices of one variant in a list. 404 `PRICING_PRICE_LIST_NOT_FOUND`: the list does not exist.',
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
        summary: "Delete a variant's prices",
        description:
          'Deletes all prices of a variant from a list, or with `from_quantity` only that one. 404 `PRICING_PRICE_NOT_FOUND`: the list has no such price.',
        params: VariantPriceParams,
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
        summary: "Export a price list's prices",
        description:
          'Returns all prices of a list as a CSV file, in the format that the import accepts. 404 `PRICING_PRICE_LIST_NOT_FOUND`: the list does not exist.',
        params: IdParams,
        response: csvFileResponseSchema('A CSV file with one row per variant and quantity.')
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
        body: { stream: 'text/csv', bytesMax: PRICING_IMPORT_BYTES_MAX },
        noReplay: 'a retry with the same file changes nothing'
      },
      schema: {
        summary: "Import a price list's prices",
        description:
          'Sets prices of a list from a CSV file with `variant_id`, `from_quantity` and `price`: all rows or none. Prices that the file does not name stay. Sending the file again is safe. 400 `PRICING_IMPORT_FAILED`: nothing changed; `report` names the wrong rows. 404 `PRICING_PRICE_LIST_NOT_FOUND`: the list does not exist.',
        params: IdParams,
        response: { 200: PricingImportResponse }
      }
    },
    request => files.importCsv(request.params.id, request.body, () => request.slot?.reportProgress())
  )
}
