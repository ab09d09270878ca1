import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'

export type SuppressionReason = 'bounced' | 'unsubscribed'

const columns = {
  id: 'uuid',
  address_masked: 'text',
  reason: oneOf<SuppressionReason>(),
  times: 'int4',
  created_at: 'timestamptz'
} as const

/** `hashes`: the hashes of one address by every configured key. */
export const listSuppressionsOfAddress = statement({
  name: 'notifications.list_suppressions_by_address',
  takes: { hashes: 'text[]' },
  gives: { reason: oneOf<SuppressionReason>(), times: 'int4' },
  text: 'select reason, times from notifications.suppressions where address_hash = any ($hashes)'
})
export const recordSuppression = statement({
  name: 'notifications.record_suppression',
  takes: { id: 'uuid', address_hash: 'text', address_masked: 'text', reason: oneOf<SuppressionReason>() },
  text: `
    insert into notifications.suppressions (id, address_hash, address_masked, reason)
    values ($id, $address_hash, $address_masked, $reason)
    on conflict (address_hash, reason) do update set times = suppressions.times + 1`
})
export const deleteBounceSuppressions = statement({
  name: 'notifications.delete_bounces',
  takes: { hashes: 'text[]' },
  text: `delete from notifications.suppressions where address_hash = any ($hashes) and reason = 'bounced'`
})
/** Pages through suppressed addresses. With `any_address` the list is not filtered. */
export const listSuppressions = statement({
  name: 'notifications.list_suppressions',
  slow: true,
  takes: { any_address: 'bool', hashes: 'text[]', after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select id, address_masked, reason, times, created_at from notifications.suppressions
    where id < $after and ($any_address or address_hash = any ($hashes)) order by id desc limit $limit`
})
export const countSuppressions = statement({
  name: 'notifications.count_suppressions',
  slow: true,
  takes: { any_address: 'bool', hashes: 'text[]' },
  gives: { total: 'int4' },
  text: countUpTo(`notifications.suppressions
    where $any_address or address_hash = any ($hashes)`)
})
export const deleteSuppression = statement({
  name: 'notifications.delete_suppression',
  takes: { id: 'uuid' },
  text: 'delete from notifications.suppressions where id = $id'
})
