import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response } from '../../../kernel/wire.ts'
import { STOCK_LEDGER_FINDING_KINDS } from './findings.ts'

const { cursor } = pageQuery
export const StockLedgerCheckQuery = input({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: 'Maximum number of discrepancies in the response.'
    })
  ),
  cursor
})
export type StockLedgerCheckQuery = Static<typeof StockLedgerCheckQuery>

const StockFinding = Type.Object({
  kind: Type.Enum([...STOCK_LEDGER_FINDING_KINDS]),
  detail: Type.String({ description: 'The discrepancy in words.' }),
  variant_id: nullable(Id),
  location_id: nullable(Id),
  owner: nullable({ ...Id, description: 'The order of an overdue reservation.' }),
  request_id: nullable({ ...Id, description: 'A stock change that was not applied in time.' })
})

export const StockCheckResponse = response('StockCheckResponse', {
  findings: Type.Array(StockFinding, { description: 'Discrepancies of this part, up to `limit`.' }),
  total: Type.Integer({ description: 'Number of discrepancies in this part.' }),
  levels: Type.Integer({ description: 'Number of stock levels checked in this part.' }),
  rest_cursor: nullable(
    Type.String({ description: 'Send it as `cursor` to check the next part. Null: this was the last one.' })
  )
})

export const StockRepairResponse = response('StockRepairResponse', {
  total: Type.Integer({ description: 'Number of discrepancies found.' }),
  repaired: Type.Integer({ description: 'Number of discrepancies repaired.' }),
  findings: Type.Array(StockFinding, { description: 'Discrepancies found: the first 1,000.' }),
  left: Type.Array(StockFinding, { description: 'Discrepancies that remain: the first 1,000.' })
})
