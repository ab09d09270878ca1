import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { Type } from '../../../kernel/schema.ts'
import type { ExportCsv } from './export.ts'

export function csvRoutes(tiers: Tiers, exportCsv: ExportCsv): void {
  tiers.admin.get(
    '/inventory/export',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'All of the stock as a CSV file',
        response: {
          200: {
            description: 'A row for each variant and location.',
            content: { 'text/csv': { schema: Type.String() } }
          }
        }
      }
    },
    (_request, reply) => {
      // A schema of its text is all that the document can say of a file, and it is sent as it is read.
      reply.type('text/csv; charset=utf-8').send(exportCsv() as never)
    }
  )
}
