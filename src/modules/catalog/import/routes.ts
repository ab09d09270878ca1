import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ImportQuery, ImportReportResponse } from './schema.ts'
import { IMPORT_BYTES_MAX, type ImportCsv } from './service.ts'

export function importRoutes(tiers: Tiers, importCsv: ImportCsv): void {
  tiers.admin.post(
    '/catalog/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: IMPORT_BYTES_MAX },
        unwritten: 'it is many transactions, and the same file once more changes nothing'
      },
      schema: {
        summary: 'Import products from a CSV file as Shopify exports it',
        querystring: ImportQuery,
        response: { 200: ImportReportResponse }
      }
    },
    request =>
      importCsv(request.body, { ...request.query, stopping: request.stopping }, () =>
        request.visit?.progressed()
      )
  )
}
