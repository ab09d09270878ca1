import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/** `out`: none can be bought; `low`: no more than the threshold; `in`: more; `untracked`: nobody counts it. */
export const stockCrossed = defineEvent(
  'inventory.crossed',
  {
    description:
      'What can be bought of a variant ran out, ran low or came back, or is counted otherwise than before.',
    subject: 'the item that is counted',
    outside: 'latest'
  },
  {
    item_id: Id,
    /** Those of which something else can be bought now: itself, and kits that it is part of. */
    variant_ids: Type.Array(Id),
    available: nullable(Type.Integer()),
    status: Type.Enum(['out', 'low', 'in', 'untracked'])
  }
)
/** `inventory.short`: more of an item is promised than is there. */
export const stockShort = defineEvent(
  'inventory.short',
  {
    description:
      'More of an item is promised than is there: a count, an adjustment or a shipment left it so.',
    subject: 'the item that is counted',
    outside: 'each'
  },
  {
    item_id: Id,
    location_id: Id,
    on_hand: Type.Integer(),
    reserved: Type.Integer(),
    /** Whose orders stand on it, the first hundred. */
    owners: Type.Array(Id)
  }
)
/** `inventory.taken`: what became of the units that a paid order contested. */
export const stockTaken = defineEvent(
  'inventory.taken',
  {
    description:
      'An order that was paid got the units that it contested; or there were not enough, and it got none of them.',
    subject: 'the order',
    outside: 'never'
  },
  { owner: Id, request_id: Id, is_taken: Type.Boolean() }
)
/** `inventory.lost`: an order that is not paid lost units to one that is. */
export const stockLost = defineEvent(
  'inventory.lost',
  {
    description: 'An order that is not paid lost units to an order that is.',
    subject: 'the order that lost them',
    outside: 'never'
  },
  { owner: Id, items: Type.Array(Type.Object({ item_id: Id, quantity: Type.Integer() })) }
)
