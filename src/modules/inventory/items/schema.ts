import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  nullable,
  pageQuery,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

/** Maximum quantity: sums over all locations must stay safe integers in JSON. */
const QUANTITY_MAX = 1_000_000_000
const PARTS_MAX = 50

export const InventoryItemQuery = input({
  ...pageQuery,
  sku: Type.Optional(line(255)),
  tracked: Type.Optional(Type.Boolean())
})
export type InventoryItemQuery = Static<typeof InventoryItemQuery>

const Threshold = Type.Integer({
  minimum: 0,
  maximum: QUANTITY_MAX,
  description: 'Available quantity at which stock counts as low. Null: never.'
})
export const UpdateInventoryItemRequest = patchRequest('UpdateInventoryItemRequest', {
  tracked: Type.Boolean({
    description: 'Whether stock is counted. An untracked variant can always be bought.'
  }),
  backorder: Type.Enum(['none', 'limit', 'any'], {
    description: 'How much can be sold beyond stock: none, `backorder_limit` units in total, or any number.'
  }),
  backorder_limit: nullable(Type.Integer({ minimum: 0, maximum: QUANTITY_MAX })),
  low_threshold: nullable(Threshold)
})
export type UpdateInventoryItemRequest = Static<typeof UpdateInventoryItemRequest>

const part = { item_id: Id, quantity: Type.Integer({ minimum: 1, maximum: 10_000 }) }
export const ReplaceKitComponentsRequest = request('ReplaceComponentsRequest', {
  components: Type.Array(input(part), {
    maxItems: PARTS_MAX,
    description: 'Components of one unit. Empty: not a kit.'
  })
})
export type ReplaceKitComponentsRequest = Static<typeof ReplaceKitComponentsRequest>

const Available = nullable(
  Type.Integer({ description: 'Units that can be bought. Null: unlimited or not tracked.' })
)
export const InventoryItemResponse = response('InventoryItemResponse', {
  id: Id,
  sku: nullable(Type.String()),
  tracked: Type.Boolean(),
  backorder: Type.Enum(['none', 'limit', 'any']),
  backorder_limit: nullable(Type.Integer()),
  low_threshold: nullable(Type.Integer()),
  available: Available,
  components: Type.Array(Type.Object({ item_id: Id, quantity: Type.Integer() }), {
    description: 'Components of a kit. Its stock follows from theirs.'
  }),
  version: Version,
  updated_at: Time
})
export type InventoryItemResponse = Static<typeof InventoryItemResponse>

export const LowStockInventoryItemResponse = response('LowStockInventoryItemResponse', {
  id: Id,
  sku: nullable(Type.String()),
  available: Type.Integer(),
  low_threshold: Type.Integer()
})
export type LowStockInventoryItemResponse = Static<typeof LowStockInventoryItemResponse>
