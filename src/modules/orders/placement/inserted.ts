import type { OrderRow } from '../orders/repository.ts'
import type { NewOrderRow } from './repository.ts'

/** Builds the row of a new order from its inserted values, which saves a read of the order. Pure. */
export function orderRowAfterInsert(
  order: NewOrderRow,
  { created_at: at, expires_at }: Pick<OrderRow, 'created_at' | 'expires_at'>
): OrderRow {
  const {
    checkout_id: _,
    cart_id: __,
    cart_version: ___,
    buyer: ____,
    network: _____,
    tendered: ______,
    is_deferred: _______,
    is_buyer_verified: ________,
    ...others
  } = order
  const { actor, payment_timeout_seconds: _________, ...shown } = others
  return {
    ...shown,
    private_metadata: {},
    is_overpaid: false,
    is_disputed: false,
    version: 1,
    token_version: 1,
    expires_at,
    cancel_requested_at: null,
    cancel_requested_by: null,
    held_at: null,
    erased_at: null,
    placed_at: order.state === 'placed' ? at : null,
    created_at: at,
    updated_at: at,
    lines: order.lines.map(line => ({ ...line, canceled: 0, fulfilled: 0, returned: 0, refunded: 0 })),
    groups: order.groups.toSorted((one, other) => (one.group_key < other.group_key ? -1 : 1)),
    components: [...order.components],
    history: [
      {
        action: 'create',
        from_state: null,
        to_state: order.state,
        actor,
        reason: null,
        at: at.toISOString()
      }
    ],
    // Orders with tenders are read after the insert.
    tenders: [],
    adjustments: [],
    shipments: []
  }
}
