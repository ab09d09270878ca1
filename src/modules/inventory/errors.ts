import { defineError } from '../../kernel/errors.ts'

export const locationNotFound = defineError(
  'not_found',
  'INVENTORY_LOCATION_NOT_FOUND',
  'There is no such location.'
)
export const locationStale = defineError(
  'stale',
  'INVENTORY_LOCATION_STALE',
  'The location was changed in the meantime; read it again.'
)
export const locationNeeded = defineError(
  'conflict',
  'INVENTORY_LOCATION_NEEDED',
  'It is the last location in use; put another one into use first.'
)
export const locationLimit = defineError(
  'conflict',
  'INVENTORY_LOCATION_LIMIT',
  'There are as many locations as there may be; "limit" says how many.'
)
export const itemNotFound = defineError(
  'not_found',
  'INVENTORY_ITEM_NOT_FOUND',
  'The inventory knows no such variant; tell it of the variant first.',
  { constraints: ['inventory.components_item'] }
)
export const itemStale = defineError(
  'stale',
  'INVENTORY_ITEM_STALE',
  'What is known of the variant was changed in the meantime; read it again.'
)
export const kitNested = defineError(
  'conflict',
  'INVENTORY_KIT_NESTED',
  'A part of a kit cannot be a kit itself.',
  { constraints: ['inventory.components_of_itself'] }
)
export const inventoryShort = defineError(
  'conflict',
  'INVENTORY_SHORT',
  'There is not enough of some lines; "items" says of which, and how many there are.',
  { mayPass: true }
)
type Shortage = { readonly variantId: string; readonly requested: number; readonly available: number }
/** A line of which there is not enough; its message is for shoppers. */
export const shortageOf = ({ variantId: variant_id, requested, available }: Shortage) => ({
  ...{ variant_id, requested, available },
  message: available > 0 ? 'There is not enough of this.' : 'This is sold out.'
})
export const claimLost = defineError(
  'conflict',
  'INVENTORY_CLAIM_LOST',
  'What was reserved is not held any more, or not as these lines say; reserve it once more.',
  { mayPass: true }
)
export const ownerTaken = defineError(
  'conflict',
  'INVENTORY_OWNER_TAKEN',
  'Other lines are promised to this order already.'
)
export const inventoryBusy = defineError(
  'unavailable',
  'INVENTORY_BUSY',
  'There is more to reserve and to count than can be done in time; try again shortly.'
)
export const requestFailed = defineError(
  'conflict',
  'INVENTORY_REQUEST_FAILED',
  'The books could not take this change, and nothing was changed; figures may be beyond what can be counted.'
)

export const importFailed = defineError(
  'invalid',
  'INVENTORY_IMPORT_FAILED',
  'The file was not imported, and nothing was changed; the report says why.'
)
/** `report`: what was imported; `first_row_left`: the first row of the file that was not begun. */
export const importInterrupted = defineError(
  'unavailable',
  'INVENTORY_IMPORT_INTERRUPTED',
  'The server stopped before the end of the file: `report` says what was imported, `first_row_left` the first row that was not begun. Send the same file again.'
)

// Only the database says these: nobody throws them by name.
defineError('conflict', 'INVENTORY_LOCATION_CODE_TAKEN', 'Another location has this code.', {
  constraints: ['inventory.locations_code'],
  fault: { path: 'body/code', message: 'must not be that of another one' }
})
defineError('invalid', 'INVENTORY_BACKORDER_INVALID', 'How many may be owed goes with backorder: limit.', {
  constraints: ['inventory.items_backorder_limit'],
  fault: { path: 'body/backorder_limit', message: 'must be sent with backorder "limit", and with it alone' }
})
defineError('invalid', 'INVENTORY_COMPONENT_TWICE', 'A part stands twice in its kit.', {
  constraints: ['inventory.components_pkey'],
  fault: { path: 'body/components', message: 'must name each item once' }
})
