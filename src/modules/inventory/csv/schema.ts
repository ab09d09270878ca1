import { type Static, Type } from '../../../kernel/schema.ts'
import { input, line, nullable, response } from '../../../kernel/wire.ts'

const Mode = Type.Enum(['best_effort', 'all_or_nothing'])
export const StockImportQuery = input({
  mode: Type.Optional(
    Type.Enum(['best_effort', 'all_or_nothing'], {
      description: '`best_effort` imports all valid rows. `all_or_nothing` imports all rows or none.',
      default: 'best_effort'
    })
  ),
  reason: Type.Optional(
    line(500, 'Reason, stored with each movement. With a different reason the same file is counted again.')
  )
})
export type StockImportQuery = Static<typeof StockImportQuery>

const rows = (description: string) => Type.Integer({ description })
export const StockImportReportResponse = response('StockImportReportResponse', {
  mode: Mode,
  rows: rows('Rows with content, without the header.'),
  failed: rows('Rows with an error.'),
  ignored_columns: Type.Array(Type.String(), {
    description: 'Columns of the file that are ignored: the first 100.'
  }),
  ignored_columns_total: Type.Integer(),
  levels: Type.Object({
    counted: rows('Rows that were counted.'),
    short: rows('Counted rows after which more is reserved than on hand.'),
    stale: rows('Rows with an older `source_version`, which changed nothing.'),
    repeated: rows('Rows that an earlier upload of the same file counted, within two days.')
  }),
  items: Type.Object({ changed: rows('Rows that changed the stock policy of a variant.') }),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({ description: 'Line of the file; the header is 1.' }),
      variant: nullable(Type.String({ description: 'Id or SKU of the variant, as in the file.' })),
      column: Type.Optional(Type.String()),
      message: Type.String()
    }),
    { description: 'The first 1,000 errors.' }
  ),
  errors_total: Type.Integer()
})
