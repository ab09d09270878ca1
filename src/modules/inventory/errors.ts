import { defineError } from '../../kernel/errors.ts'

export const stockLocationNotFoundError = defineError(
  'not_found',
  'INVENTORY_LOCATION_NOT_FOUND',
  'There is no such location.'
)
export const stockLocationStaleError = defineError(
  'stale',
  'INVENTORY_LOCATION_STALE',
  'The location has changed since it was read. Read it again.'
)
export const lastActiveLocationNeededError = defineError(
  'conflict',
  'INVENTORY_LOCATION_NEEDED',
  'This is the last active location. Activate another location first.'
)
export const stockLocationLimitReachedError = defineError(
  'conflict',
  'INVENTORY_LOCATION_LIMIT',
  'The maximum number of locations is reached; see "limit".'
)
export const inventoryItemNotFoundError = defineError(
  'not_found',
  'INVENTORY_ITEM_NOT_FOUND',
  'The inventory has no item of this variant. Create the item first.',
  { constraints: ['inventory.components_item'] }
)
export const inventoryItemStaleError = defineError(
  'stale',
  'INVENTORY_ITEM_STALE',
  'The inventory item has changed since it was read. Read it again.'
)
export const kitNestedError = defineError(
  'conflict',
  'INVENTORY_KIT_NESTED',
  'A part of a kit cannot be a kit itself.',
  { constraints: ['inventory.components_of_itself'] }
)
export const insufficientStockForLinesError = defineError(
  'conflict',
  'INVENTORY_SHORT',
  'Some lines are short; "items" lists them with the available quantities. Reduce the quantities.',
  { mayPass: true }
)
type Shortage = { readonly variantId: string; readonly requested: number; readonly available: number }
/** Describes a short line. The message is for shoppers. */
export const describeStockShortage = ({ variantId: variant_id, requested, available }: Shortage) => ({
  variant_id,
  requested,
  available,
  message: available > 0 ? 'There is not enough of this.' : 'This is sold out.'
})
export const stockClaimLostError = defineError(
  'conflict',
  'INVENTORY_CLAIM_LOST',
  'The reservation has expired or has other lines. Reserve again.',
  { mayPass: true }
)
export const orderClaimedOtherLinesError = defineError(
  'conflict',
  'INVENTORY_OWNER_TAKEN',
  'The order has already claimed other lines.'
)
export const stockWriterBusyError = defineError(
  'unavailable',
  'INVENTORY_BUSY',
  'The stock writer is overloaded. Try again shortly.'
)
export const stockRequestFailedError = defineError(
  'conflict',
  'INVENTORY_REQUEST_FAILED',
  'The stock change could not be applied, and nothing changed. A quantity may exceed the supported range.'
)

export const stockImportFailedError = defineError(
  'invalid',
  'INVENTORY_IMPORT_FAILED',
  'The file was not imported, and nothing changed. Correct the errors in "report".'
)
/** `report`: the rows that were imported. `first_row_left`: the first row that was not started. */
export const stockImportInterruptedError = defineError(
  'unavailable',
  'INVENTORY_IMPORT_INTERRUPTED',
  'The server stopped before the end of the file. `report` lists what was imported, and `first_row_left` is the first row not started. Send the same file again.'
)

// Errors that only constraints of the database raise.
defineError('conflict', 'INVENTORY_LOCATION_CODE_TAKEN', 'Another location has this code.', {
  constraints: ['inventory.locations_code'],
  fault: { path: 'body/code', message: 'must not be the code of another location' }
})
defineError(
  'invalid',
  'INVENTORY_BACKORDER_INVALID',
  'The fields `backorder_limit` and `backorder` "limit" must be set together.',
  {
    constraints: ['inventory.items_backorder_limit'],
    fault: { path: 'body/backorder_limit', message: 'must be sent with backorder "limit" only' }
  }
)
defineError('invalid', 'INVENTORY_COMPONENT_TWICE', 'A component appears twice in the kit.', {
  constraints: ['inventory.components_pkey'],
  fault: { path: 'body/components', message: 'must name each item once' }
})
