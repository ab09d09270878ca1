import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, statement } from '../../../platform/postgres/statement.ts'
import type { UserRole } from '../users/schema.ts'

const KEY = {
  id: 'uuid',
  name: 'text',
  scopes: 'text[]?',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  last_used_at: 'timestamptz?'
} as const

export const insertApiKey = statement({
  name: 'auth.insert_api_key',
  takes: { id: 'uuid', userId: 'uuid', keyHash: 'bytea', name: 'text', scopes: 'text[]?', days: 'int4' },
  text: `
    insert into auth.api_keys (id, user_id, key_hash, name, scopes, expires_at)
    values ($id, $userId, $keyHash, $name, $scopes, now() + make_interval(days => $days))`
})
export const findApiKey = statement({
  name: 'auth.find_api_key',
  takes: { id: 'uuid', userId: 'uuid' },
  gives: { ...KEY, key_hash: 'bytea' },
  text: `
    select id, name, scopes, created_at, expires_at, last_used_at, key_hash from auth.api_keys
    where id = $id and user_id = $userId`
})
export const listApiKeysOfUser = statement({
  name: 'auth.list_api_keys',
  takes: { userId: 'uuid', after: 'uuid', limit: 'int8' },
  gives: KEY,
  text: `
    select id, name, scopes, created_at, expires_at, last_used_at from auth.api_keys
    where user_id = $userId and id < $after order by id desc limit $limit`
})
export const countApiKeysOfUser = statement({
  name: 'auth.count_api_keys',
  takes: { userId: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo('auth.api_keys where user_id = $userId')
})
export const deleteApiKey = statement({
  name: 'auth.delete_api_key',
  takes: { id: 'uuid', userId: 'uuid' },
  text: 'delete from auth.api_keys where id = $id and user_id = $userId'
})
/** Deletes all API keys of a user, after a change of the password. */
export const deleteApiKeysOfUser = statement({
  name: 'auth.delete_api_keys_of_user',
  takes: { userId: 'uuid' },
  text: 'delete from auth.api_keys where user_id = $userId'
})
/** Returns a valid API key and updates its last use, once a minute at most. Returns no row for an invalid key. */
export const findApiKeyAndRecordUse = statement({
  name: 'auth.use_api_key',
  takes: { keyHash: 'bytea' },
  gives: { id: 'uuid', user_id: 'uuid' },
  text: `
    with used as (
      update auth.api_keys set last_used_at = now()
      where key_hash = $keyHash and coalesce(last_used_at < now() - interval '1 minute', true)
    )
    select k.id, k.user_id from auth.api_keys k join auth.users u on u.id = k.user_id
    where k.key_hash = $keyHash and k.expires_at > now() and u.disabled_at is null and u.role = 'admin'`
})
/** Returns the current permissions of an API key: those of its owner, restricted to the key's scopes. */
export const findApiKeyPermissions = statement({
  name: 'auth.find_api_key_rights',
  takes: { id: 'uuid', userId: 'uuid' },
  gives: { role: oneOf<UserRole>(), scopes: 'text[]?' },
  text: `
    select u.role,
      case when k.scopes is null then u.scopes when u.scopes is null then k.scopes
        else array(select unnest(k.scopes) intersect select unnest(u.scopes)) end as scopes
    from auth.api_keys k join auth.users u on u.id = k.user_id
    where k.id = $id and k.user_id = $userId and k.expires_at > now() and u.disabled_at is null and u.role = 'admin'`
})
export const deleteExpiredApiKeys = statement({
  name: 'auth.delete_expired_api_keys',
  text: `
    delete from auth.api_keys where id in
      (select id from auth.api_keys where expires_at <= now() - interval '30 days'
       limit 1000 for update skip locked)`
})
