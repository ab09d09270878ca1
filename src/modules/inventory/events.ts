import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/**
 * Stock status. `out`: no unit can be bought. `low`: at or below the low-stock threshold. `in`: above the
 * threshold. `untracked`: the item is not tracked.
 */
export const stockCrossedEvent = defineEvent(
  'inventory.crossed',
  {
    description: 'A variant is sold out, low in stock or available again, or its stock policy changed.',
    subject: 'the inventory item',
    webhook: 'latest',
    unversioned: 'The version of an item counts changes of its policy, not of its stock.'
  },
  {
    item_id: Id,
    /** Variants whose available quantity changed: the item itself and the kits that contain it. */
    variant_ids: Type.Array(Id),
    available: nullable(Type.Integer()),
    status: Type.Enum(['out', 'low', 'in', 'untracked'])
  }
)
/** `inventory.short`: more units of an item are reserved than on hand. */
export const stockShortEvent = defineEvent(
  'inventory.short',
  {
    description: 'A count, an adjustment or a shipment left more units of an item reserved than on hand.',
    subject: 'the inventory item',
    webhook: 'all',
    unversioned: 'The version of an item counts changes of its policy, not of its stock.'
  },
  {
    item_id: Id,
    location_id: Id,
    on_hand: Type.Integer(),
    reserved: Type.Integer(),
    /** Orders with reservations of the item at this location: the first 100. */
    owners: Type.Array(Id)
  }
)
/** `inventory.taken`: the outcome of a paid order's request for contested units. */
export const stockTakenEvent = defineEvent(
  'inventory.taken',
  {
    description: 'A paid order got all units that it contested, or none because too few were left.',
    subject: 'the order',
    webhook: 'none'
  },
  { owner: Id, request_id: Id, is_taken: Type.Boolean() }
)
/** `inventory.lost`: an unpaid order lost units to a paid order. */
export const stockLostEvent = defineEvent(
  'inventory.lost',
  {
    description: 'An unpaid order lost units to a paid order.',
    subject: 'the order that lost units',
    webhook: 'none'
  },
  { owner: Id, items: Type.Array(Type.Object({ item_id: Id, quantity: Type.Integer() })) }
)
