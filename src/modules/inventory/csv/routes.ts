import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import type { ExportStockCsv } from './export.ts'
import { type ImportStock, STOCK_IMPORT_BYTES_MAX } from './import.ts'
import { StockImportQuery, StockImportReportResponse } from './schema.ts'

export function stockCsvRoutes(tiers: Tiers, exportCsv: ExportStockCsv, importStock: ImportStock): void {
  tiers.admin.get(
    '/inventory/export',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Export stock levels',
        description: 'Returns all stock levels as a CSV file. The import accepts the same format.',
        response: {
          200: {
            description: 'A CSV file with one row per variant and location.',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (_request, reply) => {
      // OpenAPI describes a file by a text schema only; the content is streamed.
      reply.type('text/csv; charset=utf-8').send(exportCsv() as never)
    }
  )

  tiers.admin.post(
    '/inventory/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: STOCK_IMPORT_BYTES_MAX },
        noReplay: 'it is many transactions, and a retry with the same file counts nothing twice'
      },
      schema: {
        summary: 'Import stock counts',
        description:
          'Sets stock levels from a CSV file in the format of the export or of Shopify. `mode` imports all valid rows, or all rows or none. The report lists wrong rows. Sending the file again within two days is safe. 400 `INVENTORY_IMPORT_FAILED`: nothing changed; see `report`. 503 `INVENTORY_IMPORT_INTERRUPTED` or `INVENTORY_BUSY`: send the same file again.',
        querystring: StockImportQuery,
        response: { 200: StockImportReportResponse }
      }
    },
    request =>
      importStock(
        request.body,
        { ...request.query, actor: identityOf(request).userId, stopping: request.stopping },
        () => request.slot?.reportProgress()
      )
  )
}
