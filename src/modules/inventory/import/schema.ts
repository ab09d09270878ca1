import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, nullable, response } from '../../../kernel/wire.ts'

const Mode = Type.Enum(['best_effort', 'all_or_nothing'])
export const StockImportQuery = input({
  mode: Type.Optional(
    Type.Enum(['best_effort', 'all_or_nothing'], {
      description: 'Import the rows that have no fault, or all rows or none.',
      default: 'best_effort'
    })
  ),
  reason: Type.Optional(
    line(500, 'Stands with each movement. The same file counts once more when it is sent with another one.')
  )
})
export type StockImportQuery = Static<typeof StockImportQuery>

const rows = (description: string) => Type.Integer({ description })
export const StockImportReportResponse = response('StockImportReportResponse', {
  mode: Mode,
  rows: rows('Rows with something in them, without the header.'),
  failed: rows('Rows with a fault.'),
  ignored_columns: Type.Array(Type.String(), {
    description: 'Columns of the file that are not read: the first 100.'
  }),
  ignored_columns_total: Type.Integer(),
  levels: Type.Object({
    counted: rows('Rows that were counted.'),
    short: rows('Of them, those that leave more promised than there is.'),
    stale: rows('Rows that came later than one with a higher `source_version`; they changed nothing.'),
    repeated: rows('Rows that were counted when the same file was sent before, within two days.')
  }),
  items: Type.Object({ changed: rows('Rows that changed how their variant is counted.') }),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({ description: 'Line of the file; the header is 1.' }),
      variant: nullable(Type.String({ description: 'Its id or SKU, as the file has it.' })),
      column: Type.Optional(Type.String()),
      message: Type.String()
    }),
    { description: 'The first 1000.' }
  ),
  errors_total: Type.Integer()
})
