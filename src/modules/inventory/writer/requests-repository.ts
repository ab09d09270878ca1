import { json, nullableJson, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { PreemptibleReservationOwner, StockOperationOutcome } from '../decisions/state.ts'

/** Stored payload of a request, in the form of the writer's operation. */
export type StockRequestPayload = {
  readonly parts?: readonly { itemId: string; quantity: number }[] | null
  readonly locationId?: string | null
  readonly shipment?: string
  readonly victims?: readonly PreemptibleReservationOwner[]
  readonly lines?: readonly {
    readonly itemId: string
    readonly locationId: string
    readonly onHand?: number | null
    readonly safety?: number | null
    readonly sourceVersion?: number | null
    readonly delta?: number
  }[]
}
const requestKind = oneOf<'release' | 'ship' | 'unship' | 'return' | 'count' | 'adjust' | 'take'>()

/** Lets one process at a time apply requests, which keeps their order. */
export const tryLockStockRequests = statement({
  name: 'inventory.lock_requests',
  gives: { is_mine: 'bool' },
  text: `select pg_try_advisory_xact_lock(hashtextextended('inventory.requests', 0)) as is_mine`
})
export const findAnyPendingStockRequest = statement({
  name: 'inventory.is_request_pending',
  gives: { is_pending: 'bool' },
  text: 'select exists (select from inventory.requests where done_at is null) as is_pending'
})
export const listPendingStockRequests = statement({
  name: 'inventory.list_requests_to_do',
  takes: { limit: 'int8' },
  gives: {
    id: 'uuid',
    kind: requestKind,
    owner: 'uuid?',
    lines: json<StockRequestPayload>(),
    actor: 'uuid?',
    reason: 'text?',
    age_seconds: 'float8'
  },
  text: `
    select id, kind, owner, lines, actor, reason,
      extract(epoch from clock_timestamp() - posted_at)::float8 as age_seconds
    from inventory.requests where done_at is null order by seq limit $limit`
})
/** Locks contested units. Waits for a transaction that is giving some of them up. */
export const lockContestedStockUnitsOfOrders = statement({
  name: 'inventory.lock_contested',
  takes: { owners: 'uuid[]' },
  gives: { owner: 'uuid', item_id: 'uuid', quantity: 'int4' },
  text: `
    select owner, item_id, quantity from inventory.contested where owner = any ($owners)
    order by owner, item_id for update`
})
export const updateFinishedStockRequests = statement({
  name: 'inventory.finish_requests',
  takes: { ids: 'uuid[]', outcomes: 'text[]' },
  text: `
    update inventory.requests set done_at = now(), outcome = done.outcome::jsonb
    from unnest($ids::uuid[], $outcomes::text[]) as done (id, outcome)
    where requests.id = done.id`
})
export const listStockRequestOutcomes = statement({
  name: 'inventory.list_outcomes',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', outcome: nullableJson<StockOperationOutcome>() },
  text: 'select id, outcome from inventory.requests where id = any ($ids) and done_at is not null'
})
/** Inserts requests. Existing ids stay unchanged and are not returned. */
export const insertStockRequests = statement({
  name: 'inventory.insert_requests',
  takes: {
    ids: 'uuid[]',
    kinds: 'text[]',
    owners: 'text[]',
    lines: 'text[]',
    actors: 'text[]',
    reasons: 'text[]'
  },
  gives: { id: 'uuid' },
  text: `
    insert into inventory.requests (id, kind, owner, lines, actor, reason)
    select id, kind, nullif(owner, '')::uuid, lines::jsonb, nullif(actor, '')::uuid, nullif(reason, '')
    from unnest($ids::uuid[], $kinds::text[], $owners::text[], $lines::text[], $actors::text[], $reasons::text[])
      as request (id, kind, owner, lines, actor, reason)
    on conflict (id) do nothing
    returning id`
})
export const deleteOldStockRequests = statement({
  name: 'inventory.delete_requests',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.requests where id in (
      select id from inventory.requests where done_at < now() - interval '48 hours'
      limit $limit for update skip locked)`
})
