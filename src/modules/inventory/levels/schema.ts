import { changeListQueryFields } from '../../../kernel/change-lists.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, pageQuery, request, response, Time } from '../../../kernel/wire.ts'
import { StockLocationCode } from '../locations/schema.ts'

/** Filters of lists of stock. */
export const StockLevelQuery = input({
  ...pageQuery,
  ...changeListQueryFields,
  variant_id: Type.Optional(Id),
  location: Type.Optional(StockLocationCode)
})
export type StockLevelQuery = Static<typeof StockLevelQuery>

/** Maximum quantity: sums over many levels must stay safe integers in JSON. */
const QUANTITY_MAX = 1_000_000_000
const Place = Type.Optional(StockLocationCode)
const Reason = line(500)

export const StockCountRequest = request('CountRequest', {
  on_hand: Type.Integer({
    minimum: -QUANTITY_MAX,
    maximum: QUANTITY_MAX,
    description: 'Units on hand, reserved ones included.'
  }),
  location: Place,
  safety: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: QUANTITY_MAX,
      description: 'Safety stock, which is not sold. Default: unchanged.'
    })
  ),
  reason: Type.Optional(Reason),
  source_version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Rising number from the counting system. A count with a lower number than the last is ignored.'
    })
  )
})
export type StockCountRequest = Static<typeof StockCountRequest>

export const StockAdjustmentRequest = request('AdjustRequest', {
  variant_id: Id,
  delta: Type.Union([
    Type.Integer({ minimum: 1, maximum: QUANTITY_MAX, description: 'Units added.' }),
    Type.Integer({ minimum: -QUANTITY_MAX, maximum: -1, description: 'Units removed, as a negative number.' })
  ]),
  location: Place,
  reason: Reason
})
export type StockAdjustmentRequest = Static<typeof StockAdjustmentRequest>

const level = {
  variant_id: Id,
  sku: nullable(Type.String()),
  location: Type.String({ description: 'The code of the location.' }),
  on_hand: Type.Integer({ description: 'Units on hand. Negative if more was shipped than was counted.' }),
  reserved: Type.Integer({ description: 'Units reserved for orders.' }),
  safety: Type.Integer({ description: 'Safety stock, which is not sold.' }),
  available: Type.Integer({ description: 'Units that can be sold from this location.' }),
  seq: Type.Integer({
    description:
      'Number of the latest movement. A newer state of the level has a higher one, also after a change of the safety stock.'
  }),
  updated_at: {
    ...Time,
    description: 'When the level last changed, to a second. Changes of its location or SKU do not count.'
  }
}
export const StockLevelResponse = response('LevelResponse', level)
export type StockLevelResponse = Static<typeof StockLevelResponse>

export const CountedStockLevelResponse = response('CountedLevelResponse', {
  ...level,
  applied: Type.Boolean({
    description: 'False: a count with a higher `source_version` exists, so nothing changed.'
  }),
  short: Type.Boolean({
    description: 'True: more is reserved than on hand, and backorders are not allowed.'
  })
})
export type CountedStockLevelResponse = Static<typeof CountedStockLevelResponse>
