import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input } from '../../../kernel/wire.ts'
import type { ExportProductsCsv } from './service.ts'

const ExportQuery = input({
  stock: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to include stock. Importing the file later sets stock back to these quantities.'
    })
  )
})

export function productExportRoutes(tiers: Tiers, exportCsv: ExportProductsCsv): void {
  tiers.admin.get(
    '/catalog/export',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Export products',
        description:
          'Returns all products as a CSV file in the format of Shopify. The import accepts it. Products that the format cannot express are skipped. Examples are products with more than three options, or without a variant in the currency of the shop.',
        querystring: ExportQuery,
        response: {
          200: {
            description: 'A CSV file. Rows of one product follow each other.',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (request, reply) => {
      // The document can only describe a file as text. The cast is needed because the file is sent as a
      // stream.
      reply.type('text/csv; charset=utf-8').send(exportCsv(request.query) as never)
    }
  )
}
