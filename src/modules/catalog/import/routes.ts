import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ImportReportResponse, ProductImportQuery } from './schema.ts'
import { type ImportProductsCsv, PRODUCT_IMPORT_BYTES_MAX } from './service.ts'

export function productImportRoutes(tiers: Tiers, importCsv: ImportProductsCsv): void {
  tiers.admin.post(
    '/catalog/import',
    {
      config: {
        class: 'bulk',
        body: { stream: 'text/csv', bytesMax: PRODUCT_IMPORT_BYTES_MAX },
        noReplay: 'it runs many transactions, and importing the same file again changes nothing'
      },
      schema: {
        summary: 'Import products',
        description:
          "Creates and updates products from a CSV file in Shopify's export format. `mode` imports all valid products, or all products or none. The report counts changes and lists wrong rows. Importing the same file again changes nothing. 400 `CATALOG_IMPORT_FAILED`: nothing changed; see `report`. 503 `CATALOG_IMPORT_INTERRUPTED`: the server stopped; send the same file again.",
        querystring: ProductImportQuery,
        response: { 200: ImportReportResponse }
      }
    },
    request =>
      importCsv(request.body, { ...request.query, stopping: request.stopping }, () =>
        request.slot?.reportProgress()
      )
  )
}
