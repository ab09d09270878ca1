import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { PaymentFactKind, PaymentFactStatus } from '../facts/fact.ts'

/** Lists the recorded facts of these objects. */
export const listPaymentFactsOfProviderObjects = statement({
  name: 'payments.list_known_facts',
  takes: { provider: 'text', kinds: 'text[]', objectIds: 'text[]' },
  gives: {
    kind: oneOf<PaymentFactKind>(),
    object_id: 'text',
    rank: 'int4',
    status: oneOf<PaymentFactStatus>(),
    amount: 'int8',
    currency: 'text',
    expires_seconds: 'float8?'
  },
  text: `
    select facts.kind, facts.object_id, rank, status, amount, currency,
      extract(epoch from expires_at)::float8 as expires_seconds
    from unnest($kinds::text[], $objectIds::text[]) as reported (kind, object_id)
    join payments.facts on provider = $provider and facts.kind = reported.kind and facts.object_id = reported.object_id`
})
/** Returns which of these events are stored. */
export const listStoredProviderEventIds = statement({
  name: 'payments.list_known_events',
  takes: { provider: 'text', eventIds: 'text[]' },
  gives: { event_id: 'text' },
  text: 'select event_id from payments.events where provider = $provider and event_id = any($eventIds::text[])'
})
