import { type RowOf, statement } from '../postgres/statement.ts'

// No single statement here waits for a locked row, because single writes share few connections. Locked rows are skipped; a
// waiting retry reads them again.
// Joins also compare the keys themselves, so that every plan uses the index: a plan from when the table was empty would scan it.

/**
 * Claims keys that were not used within 48 hours, and returns their leases. Skips keys that exist, because `on conflict` would
 * wait for the transaction that marks them. It only waits for keys of another such statement that is about to commit; all
 * insert in the same order, so they cannot deadlock.
 */
export const insertIdempotencyKeys = statement({
  name: 'idempotency.insert_keys',
  takes: {
    keyHashes: 'bytea[]',
    fingerprints: 'bytea[]',
    leases: 'uuid[]',
    operationIds: 'uuid[]',
    leaseSeconds: 'float8'
  },
  gives: { lease: 'uuid' },
  text: `
    insert into cartwright.idempotency_keys
      (key_hash, fingerprint, state, lease, lease_until, operation_id, expires_at)
    select key_hash, fingerprint, 'running', lease, now() + make_interval(secs => $leaseSeconds), operation_id,
      now() + interval '48 hours'
    from unnest($keyHashes::bytea[], $fingerprints::bytea[], $leases::uuid[], $operationIds::uuid[])
      as wanted (key_hash, fingerprint, lease, operation_id)
    where (select state from cartwright.idempotency_keys present where present.key_hash = wanted.key_hash) is null
    order by key_hash
    on conflict (key_hash) do nothing
    returning lease`
})
export const findIdempotencyKey = statement({
  name: 'idempotency.find_key',
  takes: { keyHash: 'bytea' },
  gives: {
    fingerprint: 'bytea',
    state: 'text',
    lease: 'uuid',
    operation_id: 'uuid',
    result_id: 'uuid?',
    status: 'int4?',
    answer: 'bytea?',
    is_held: 'bool',
    is_expired: 'bool'
  },
  text: `
    select fingerprint, state, lease, operation_id, result_id, status, answer,
      state = 'running' and lease_until > now() as is_held, expires_at <= now() as is_expired
    from cartwright.idempotency_keys where key_hash = $keyHash`
})
export type IdempotencyKeyRow = RowOf<typeof findIdempotencyKey>

/** Claims an idempotency key that was released, whose lease expired, or whose 48 hours are over. */
export const takeOverIdempotencyKey = statement({
  name: 'idempotency.take_key_over',
  takes: {
    keyHash: 'bytea',
    fingerprint: 'bytea',
    lease: 'uuid',
    leaseSeconds: 'float8',
    operationId: 'uuid'
  },
  gives: { operation_id: 'uuid' },
  text: `
    update cartwright.idempotency_keys k set
      state = 'running', lease = $lease, lease_until = now() + make_interval(secs => $leaseSeconds),
      operation_id = case when expires_at <= now() then $operationId else operation_id end,
      result_id = null, status = null, answer = null, fingerprint = $fingerprint,
      expires_at = case when expires_at <= now() then now() + interval '48 hours' else expires_at end
    from (
      select key_hash from cartwright.idempotency_keys
      where key_hash = $keyHash and (expires_at <= now() or fingerprint = $fingerprint
        and (state = 'free' or state = 'running' and lease_until <= now()))
      for update skip locked
    ) takeable
    where k.key_hash = $keyHash and k.key_hash = takeable.key_hash
    returning k.operation_id`
})
/** Extends the leases of requests that this process is working on. */
export const renewIdempotencyKeyLeases = statement({
  name: 'idempotency.renew_leases',
  takes: { keyHashes: 'bytea[]', leases: 'uuid[]', leaseSeconds: 'float8' },
  text: `
    update cartwright.idempotency_keys k set lease_until = now() + make_interval(secs => $leaseSeconds)
    from (
      select present.key_hash from unnest($keyHashes::bytea[], $leases::uuid[]) as held (key_hash, lease)
      join cartwright.idempotency_keys present on present.key_hash = held.key_hash and present.lease = held.lease
      where present.key_hash = any ($keyHashes) and present.state = 'running'
      for update of present skip locked
    ) mine
    where k.key_hash = any ($keyHashes) and k.key_hash = mine.key_hash`
})
/**
 * Marks the idempotency key as applied, in the transaction of the work. Changes no row when a later attempt took the key
 * over.
 */
export const updateIdempotencyKeyApplied = statement({
  name: 'idempotency.mark_key_applied',
  takes: { keyHash: 'bytea', lease: 'uuid', resultId: 'uuid?' },
  text: `
    update cartwright.idempotency_keys set state = 'applied', result_id = $resultId
    where key_hash = $keyHash and lease = $lease and state = 'running'`
})
/** Stores responses, except of attempts whose key was taken over: those were rejected, and the later one may be committed. */
export const storeIdempotentResponses = statement({
  name: 'idempotency.finish_keys',
  takes: { keyHashes: 'bytea[]', leases: 'uuid[]', statuses: 'int4[]', answers: 'bytea[]' },
  gives: { lease: 'uuid' },
  text: `
    update cartwright.idempotency_keys k set state = 'done', status = mine.status, answer = mine.answer
    from (
      select present.key_hash, present.lease, finished.status, finished.answer
      from unnest($keyHashes::bytea[], $leases::uuid[], $statuses::int[], $answers::bytea[])
        as finished (key_hash, lease, status, answer)
      join cartwright.idempotency_keys present on present.key_hash = finished.key_hash
        and present.lease = finished.lease and present.state in ('running', 'applied')
      where present.key_hash = any ($keyHashes)
      for update of present skip locked
    ) mine
    where k.key_hash = any ($keyHashes) and k.key_hash = mine.key_hash
    returning mine.lease`
})
/** Releases the idempotency key and keeps its operation id, unless the work was committed. */
export const releaseIdempotencyKey = statement({
  name: 'idempotency.release_key',
  takes: { keyHash: 'bytea', lease: 'uuid' },
  text: `
    update cartwright.idempotency_keys k set state = 'free'
    from (
      select key_hash from cartwright.idempotency_keys
      where key_hash = $keyHash and state = 'running' and lease = $lease
      for update skip locked
    ) mine
    where k.key_hash = $keyHash and k.key_hash = mine.key_hash`
})
export const deleteExpiredIdempotencyKeys = statement({
  name: 'idempotency.delete_expired_keys',
  text: `
    delete from cartwright.idempotency_keys where key_hash in
      (select key_hash from cartwright.idempotency_keys where expires_at <= now() limit 1000 for update skip locked)`
})
