import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/**
 * Adds this key if none was created within the last `rotationDays`, or if it is `urgent`, because this process can use no
 * other key. The first and an urgent key sign immediately; others are published for a while before. Two processes that
 * rotate simultaneously compute the same generation, and only one key is inserted.
 */
export const insertSigningKeyIfDue = statement({
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
export const listSigningKeys = statement({
  name: 'auth.list_signing_keys',
  gives: { kid: 'text', private_jwk: 'jsonb?', sealed: 'bytea?', signs: 'bool' },
  text: `
    select kid, private_jwk, sealed, signs_from <= now() as signs
    from auth.signing_keys order by generation desc`
})
export type SigningKeyRow = RowOf<typeof listSigningKeys>

/** Stores a key encrypted with the current secret. */
export const updateEncryptedSigningKey = statement({
  name: 'auth.seal_signing_key',
  takes: { kid: 'text', sealed: 'bytea' },
  text: 'update auth.signing_keys set sealed = $sealed, private_jwk = null where kid = $kid'
})

/** Deletes keys whose last tokens have expired. */
export const deleteRetiredSigningKeys = statement({
  name: 'auth.delete_retired_signing_keys',
  takes: { overlapSeconds: 'float8' },
  text: `
    delete from auth.signing_keys k using auth.signing_keys successor
    where successor.generation = k.generation + 1
      and successor.signs_from <= now() - make_interval(secs => $overlapSeconds)`
})
