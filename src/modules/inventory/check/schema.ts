import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, pageQuery, response } from '../../../kernel/wire.ts'
import { FINDING_KINDS } from './findings.ts'

const { cursor } = pageQuery
export const CheckQuery = input({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      default: 100,
      description: 'The most findings that are shown.'
    })
  ),
  cursor
})
export type CheckQuery = Static<typeof CheckQuery>

const StockFinding = Type.Object({
  kind: Type.Enum([...FINDING_KINDS]),
  detail: Type.String(),
  variant_id: nullable(Id),
  location_id: nullable(Id),
  owner: nullable(Id),
  request_id: nullable(Id)
})

export const StockCheckResponse = response('StockCheckResponse', {
  findings: Type.Array(StockFinding, { description: 'The first of this part.' }),
  total: Type.Integer({ description: 'How many there are in this part.' }),
  levels: Type.Integer({ description: 'How many levels this part has.' }),
  rest_cursor: nullable(
    Type.String({ description: 'Goes on behind this part; null: that was the last one.' })
  )
})

export const StockRepairResponse = response('StockRepairResponse', {
  total: Type.Integer({ description: 'What was found.' }),
  repaired: Type.Integer({ description: 'Of it, what is not there any more.' }),
  findings: Type.Array(StockFinding, { description: 'What was found: the first 1000.' }),
  left: Type.Array(StockFinding, { description: 'What is there still: the first 1000.' })
})
