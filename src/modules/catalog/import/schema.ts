import { Type } from '../../../kernel/schema.ts'
import { input, nullable, response } from '../../../kernel/wire.ts'

export const ProductImportQuery = input({
  mode: Type.Optional(
    Type.Enum(['best_effort', 'all_or_nothing'], {
      description:
        '`best_effort`: imports all valid products. `all_or_nothing`: imports nothing if a row is wrong.',
      default: 'best_effort'
    })
  )
})

const count = Type.Integer()
export const ImportReportResponse = response('ImportReportResponse', {
  mode: Type.Enum(['best_effort', 'all_or_nothing']),
  rows: Type.Integer({ description: 'Rows that are not empty, without the header.' }),
  ignored_columns: Type.Array(Type.String(), {
    description: 'Columns of the file that the import does not read. At most 100.'
  }),
  ignored_columns_total: count,
  products: Type.Object({ created: count, updated: count, unchanged: count, failed: count }),
  variants: Type.Object({
    created: count,
    updated: count,
    unchanged: count,
    deactivated: Type.Integer({
      description: 'Variants that are missing in the file. They are kept, and no longer for sale.'
    })
  }),
  errors: Type.Array(
    Type.Object({
      row: Type.Integer({ description: 'Line of the file; the header is 1.' }),
      handle: nullable(Type.String()),
      column: Type.Optional(Type.String()),
      message: Type.String()
    }),
    { description: 'The first 1,000 errors.' }
  ),
  errors_total: count
})
