import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { ReservationResponse } from './schema.ts'

const filters = { firstOwner: 'uuid', lastOwner: 'uuid', variant_id: 'uuid?', state: 'text?' } as const

/** Behind a place, of the owners from `firstOwner` to `lastOwner`; what else is null lets all pass. */
export const listReservations = statement({
  name: 'inventory.list_all_reservations',
  takes: { ...filters, owner: 'uuid', item: 'uuid', place: 'uuid', limit: 'int8' },
  gives: {
    owner: 'uuid',
    variant_id: 'uuid',
    location_id: 'uuid',
    location: 'text',
    quantity: 'int4',
    fulfilled: 'int4',
    state: oneOf<ReservationResponse['state']>(),
    expires_at: 'timestamptz?'
  },
  slow: true,
  text: `
    select reservations.owner, reservations.item_id as variant_id, reservations.location_id, locations.code as location,
      reservations.quantity, reservations.fulfilled, reservations.state, reservations.expires_at
    from inventory.reservations join inventory.locations on locations.id = reservations.location_id
    where reservations.owner between $firstOwner and $lastOwner
      and (reservations.owner, reservations.item_id, reservations.location_id) > ($owner, $item, $place)
      and ($variant_id::uuid is null or reservations.item_id = $variant_id)
      and ($state::text is null or reservations.state = $state)
    order by reservations.owner, reservations.item_id, reservations.location_id limit $limit`
})
export const countReservations = statement({
  name: 'inventory.count_all_reservations',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`inventory.reservations
    where owner between $firstOwner and $lastOwner
      and ($variant_id::uuid is null or item_id = $variant_id) and ($state::text is null or state = $state)`)
})
