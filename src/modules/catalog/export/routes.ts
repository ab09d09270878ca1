import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import { input } from '../../../kernel/wire.ts'
import type { ExportCsv } from './service.ts'

const ExportQuery = input({
  stock: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'With what is counted: whoever imports the file takes the stock back to what it was.'
    })
  )
})

export function exportRoutes(tiers: Tiers, exportCsv: ExportCsv): void {
  tiers.admin.get(
    '/catalog/export',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Products as a CSV file in the format of Shopify, which an import reads',
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The rows of one product after those of the other.',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (request, reply) => {
      // A schema of its text is all that the document can say of a file, and it is sent as it is read.
      reply.type('text/csv; charset=utf-8').send(exportCsv(request.query) as never)
    }
  )
}
