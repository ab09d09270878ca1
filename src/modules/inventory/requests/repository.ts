import { json, nullableJson, oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { Outcome, Victim } from '../stock/state.ts'

/** What a request is about; as the writer's operation has it. */
export type RequestLines = {
  readonly parts?: readonly { itemId: string; quantity: number }[] | null
  readonly locationId?: string | null
  readonly shipment?: string
  readonly victims?: readonly Victim[]
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

/** One process at a time does requests: that keeps their order. */
export const lockRequests = statement({
  name: 'inventory.lock_requests',
  gives: { is_mine: 'bool' },
  text: `select pg_try_advisory_xact_lock(hashtextextended('inventory.requests', 0)) as is_mine`
})
export const listRequests = statement({
  name: 'inventory.list_requests_to_do',
  takes: { limit: 'int8' },
  gives: {
    id: 'uuid',
    kind: requestKind,
    owner: 'uuid?',
    lines: json<RequestLines>(),
    actor: 'uuid?',
    reason: 'text?',
    age_seconds: 'float8'
  },
  text: `
    select id, kind, owner, lines, actor, reason,
      extract(epoch from clock_timestamp() - posted_at)::float8 as age_seconds
    from inventory.requests where done_at is null order by seq limit $limit`
})
/** Waits for a transaction that gives up units that its owner contests. */
export const lockContested = statement({
  name: 'inventory.lock_contested',
  takes: { owners: 'uuid[]' },
  gives: { owner: 'uuid', item_id: 'uuid', quantity: 'int4' },
  text: `
    select owner, item_id, quantity from inventory.contested where owner = any ($owners)
    order by owner, item_id for update`
})
export const finishRequests = statement({
  name: 'inventory.finish_requests',
  takes: { ids: 'uuid[]', outcomes: 'text[]' },
  text: `
    update inventory.requests set done_at = now(), outcome = done.outcome::jsonb
    from unnest($ids::uuid[], $outcomes::text[]) as done (id, outcome)
    where requests.id = done.id`
})
export const listOutcomes = statement({
  name: 'inventory.list_outcomes',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', outcome: nullableJson<Outcome>() },
  text: 'select id, outcome from inventory.requests where id = any ($ids) and done_at is not null'
})
/** Those that are there already stay as they are, and are not given back. */
export const insertRequests = statement({
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
export const deleteRequests = statement({
  name: 'inventory.delete_requests',
  takes: { limit: 'int8' },
  text: `
    delete from inventory.requests where id in (
      select id from inventory.requests where done_at < now() - interval '48 hours'
      limit $limit for update skip locked)`
})
