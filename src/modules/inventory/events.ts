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
