import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/**
 * Adds this key if it is time: when there is none that can be used here, or none made within the last
 * `rotationDays`. One that is `urgent` (nobody here can use any other) signs at once, as the very first one does; a
 * later one is published for a while before. Two processes that rotate at once come to the same generation, and one
 * of them loses without noticing.
 */
export const insertKeyIfDue = statement({
  name: 'auth.insert_signing_key',
  takes: { kid: 'text', sealed: 'bytea', rotationDays: 'int4', noticeSeconds: 'float8', urgent: 'bool' },
  text: `
    insert into auth.signing_keys (kid, generation, sealed, signs_from)
    select $kid, coalesce(max(generation), 0) + 1, $sealed,
      case when count(*) = 0 or $urgent then now() else now() + make_interval(secs => $noticeSeconds) end
    from auth.signing_keys
    having $urgent or coalesce(max(created_at) <= now() - make_interval(days => $rotationDays), true)
    on conflict (generation) do nothing`
})
export const listKeys = statement({
  name: 'auth.list_signing_keys',
  gives: { kid: 'text', private_jwk: 'jsonb?', sealed: 'bytea?', signs: 'bool' },
  text: `
    select kid, private_jwk, sealed, signs_from <= now() as signs
    from auth.signing_keys order by generation desc`
})
export type SigningKeyRow = RowOf<typeof listKeys>

/** Encrypts a key that lay here as it was, or with a key that was replaced. */
export const sealKey = statement({
  name: 'auth.seal_signing_key',
  takes: { kid: 'text', sealed: 'bytea' },
  text: 'update auth.signing_keys set sealed = $sealed, private_jwk = null where kid = $kid'
})

/** Drops the keys whose last tokens have expired. */
export const deleteRetiredKeys = statement({
  name: 'auth.delete_retired_signing_keys',
  takes: { overlapSeconds: 'float8' },
  text: `
    delete from auth.signing_keys k using auth.signing_keys successor
    where successor.generation = k.generation + 1
      and successor.signs_from <= now() - make_interval(secs => $overlapSeconds)`
})
