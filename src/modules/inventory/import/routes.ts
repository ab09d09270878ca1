import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { StockImportQuery, StockImportReportResponse } from './schema.ts'
import { IMPORT_BYTES_MAX, type ImportStock } from './service.ts'

export function importRoutes(tiers: Tiers, importStock: ImportStock): void {
  tiers.admin.post(
    '/inventory/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: IMPORT_BYTES_MAX },
        unwritten: 'it is many transactions, and the same file once more counts nothing twice'
      },
      schema: {
        summary: 'Count stock by a CSV file, as it is exported here or by Shopify',
        querystring: StockImportQuery,
        response: { 200: StockImportReportResponse }
      }
    },
    request =>
      importStock(
        request.body,
        { ...request.query, actor: identityOf(request).userId, stopping: request.stopping },
        () => request.visit?.progressed()
      )
  )
}
