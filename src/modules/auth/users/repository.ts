import type { Metadata } from '../../../kernel/metadata.ts'
import { boundedSearchSql } from '../../../platform/postgres/bounded-search.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  metadataMatchSql,
  metadataSearchSqlParts,
  metadataUpdateStatement
} from '../../../platform/postgres/metadata.ts'
import { json, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { UserRole } from './schema.ts'

const USER = {
  id: 'uuid',
  email: 'text?',
  name: 'text?',
  role: oneOf<UserRole>(),
  scopes: 'text[]?',
  email_verified: 'bool',
  phone: 'text?',
  locale: 'text?',
  marketing_consent: 'bool',
  created_at: 'timestamptz',
  metadata: json<Metadata>()
} as const
const LOGIN = { ...USER, password_hash: 'text?', disabled: 'bool', has_second_factor: 'bool' } as const

export const insertUser = statement({
  name: 'auth.insert_user',
  takes: { id: 'uuid', email: 'text', name: 'text?', locale: 'text?', role: 'text', passwordHash: 'text' },
  gives: USER,
  text: `
    insert into auth.users (id, email, name, locale, role, password_hash)
    values ($id, $email, $name, $locale, $role, $passwordHash)
    returning id, email, name, role, scopes, false as email_verified, phone, locale, false as marketing_consent, created_at, metadata`
})
export type UserRow = RowOf<typeof insertUser>
/** Returns the public fields of a user's row. */
export function selectPublicUserFields(row: UserRow): UserRow {
  const {
    id,
    email,
    name,
    role,
    scopes,
    email_verified,
    phone,
    locale,
    marketing_consent,
    created_at,
    metadata
  } = row
  return {
    id,
    email,
    name,
    role,
    scopes,
    email_verified,
    phone,
    locale,
    marketing_consent,
    created_at,
    metadata
  }
}

export const findUser = statement({
  name: 'auth.find_user',
  takes: { id: 'uuid' },
  gives: LOGIN,
  text: `
    select id, email, name, role, scopes, email_verified_at is not null as email_verified, phone, locale,
      marketing_consent_at is not null as marketing_consent, created_at, metadata, password_hash,
      disabled_at is not null as disabled, second_factor_at is not null as has_second_factor
    from auth.users where id = $id`
})
/** Finds a user with a password by e-mail address: the folded one, under which older accounts are stored, comes first. */
export const findUserWithPasswordByEmail = statement({
  name: 'auth.find_login',
  takes: { email: 'text', folded: 'text' },
  gives: LOGIN,
  text: `
    select id, email, name, role, scopes, email_verified_at is not null as email_verified, phone, locale,
      marketing_consent_at is not null as marketing_consent, created_at, metadata, password_hash,
      disabled_at is not null as disabled, second_factor_at is not null as has_second_factor
    from auth.users
    where lower(email) = any (array[lower($email), lower($folded)]) and password_hash is not null
    order by lower(email) = lower($folded) desc limit 1`
})
// Requires the old hash, so that only one of two concurrent changes with the same old password succeeds.
export const updatePasswordHash = statement({
  name: 'auth.update_user_password',
  takes: { id: 'uuid', newHash: 'text', oldHash: 'text' },
  text: 'update auth.users set password_hash = $newHash where id = $id and password_hash = $oldHash'
})
/** Disables or enables a user. Disabling a disabled user keeps the first time. */
export const updateUserDisabled = statement({
  name: 'auth.update_user_disabled',
  takes: { id: 'uuid', disabled: 'bool' },
  text: `
    update auth.users set disabled_at = case when $disabled then coalesce(disabled_at, now()) end, updated_at = now()
    where id = $id`
})
export const updateUserRole = statement({
  name: 'auth.update_user_role',
  takes: { id: 'uuid', role: 'text', scopes: 'text[]?' },
  text: 'update auth.users set role = $role, scopes = $scopes, updated_at = now() where id = $id'
})
export const existsActiveAdmin = statement({
  name: 'auth.exists_admin',
  gives: { found: 'bool' },
  text: `select exists (select from auth.users where role = 'admin' and disabled_at is null) as found`
})
/** Serializes changes of administrators until the transaction ends. */
export const lockAdminChanges = statement({
  name: 'auth.lock_admins',
  text: `select pg_advisory_xact_lock(hashtextextended('auth.first_admin', 0))`
})
/** Returns whether this user is the only administrator with full access. */
export const isLastFullAccessAdmin = statement({
  name: 'auth.is_last_admin',
  takes: { id: 'uuid' },
  gives: { found: 'bool' },
  text: `
    select exists (select from auth.users where id = $id and role = 'admin' and scopes is null and disabled_at is null)
      and not exists (
        select from auth.users where id <> $id and role = 'admin' and scopes is null and disabled_at is null
      ) as found`
})

/** Lists the names, addresses and locales of these users. */
export const listUserContacts = statement({
  name: 'auth.list_contacts',
  takes: { ids: 'uuid[]' },
  gives: {
    id: 'uuid',
    email: 'text?',
    name: 'text?',
    locale: 'text?',
    email_verified: 'bool',
    former_email: 'text?'
  },
  text: `
    select id, email, name, locale, email_verified_at is not null as email_verified, former_email
    from auth.users where id = any ($ids)`
})

export const findExternalIdentity = statement({
  name: 'auth.find_external_identity',
  takes: { issuer: 'text', subject: 'text' },
  gives: { user_id: 'uuid', disabled: 'bool' },
  text: `
    select u.id as user_id, u.disabled_at is not null as disabled
    from auth.external_identities i join auth.users u on u.id = i.user_id
    where i.issuer = $issuer and i.subject = $subject`
})
// One statement, so that of several concurrent first requests only one creates the user.
export const insertExternalUser = statement({
  name: 'auth.insert_external_identity',
  takes: { issuer: 'text', subject: 'text', id: 'uuid', email: 'text?', name: 'text?' },
  text: `
    with identity as (
      insert into auth.external_identities (issuer, subject, user_id) values ($issuer, $subject, $id)
      on conflict (issuer, subject) do nothing returning user_id
    )
    insert into auth.users (id, email, name, role) select user_id, $email, $name, 'customer' from identity`
})

/** Locks a user until the transaction ends. Returns no row when the user does not exist. */
export const lockUser = statement({
  name: 'auth.lock_user',
  takes: { id: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from auth.users where id = $id for update'
})
const MANAGED = {
  ...USER,
  disabled_at: 'timestamptz?',
  updated_at: 'timestamptz',
  private_metadata: json<Metadata>()
} as const
export const updateUserMetadata = metadataUpdateStatement(
  'auth.update_user_metadata',
  'auth.users',
  ', updated_at = now()'
)
const managed = `
  id, email, name, role, scopes, email_verified_at is not null as email_verified, phone, locale,
    marketing_consent_at is not null as marketing_consent, created_at, metadata, disabled_at, updated_at,
    private_metadata`
/** Null disables a filter. `email` and `name` are prefixes in lower case. */
const filters = { role: 'text?', disabled: 'bool?', email: 'text?', name: 'text?' } as const
const matching = `
  ($role::text is null or role = $role)
  and ($disabled::bool is null or (disabled_at is not null) = $disabled)
  and ($email::text is null or starts_with(lower(email), $email) or starts_with(lower(name), $name))`
export const listUsers = statement({
  name: 'auth.list_users',
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: MANAGED,
  slow: true,
  text: `select ${managed} from auth.users where id < $after and ${matching} order by id desc limit $limit`
})
const withMetadata = { ...filters, metadata: json<Metadata>() } as const
export const listUsersMatchingMetadata = statement({
  name: 'auth.list_users_with_metadata',
  takes: { ...withMetadata, after: 'uuid', limit: 'int8' },
  gives: MANAGED,
  slow: true,
  text: boundedSearchSql({
    table: 'auth.users',
    columns: `id, email, name, role, scopes, email_verified_at, phone, locale, marketing_consent_at, created_at, metadata,
          disabled_at, updated_at, private_metadata`,
    where: `id < $after and ${matching}`,
    by: 'id desc',
    ...metadataSearchSqlParts,
    shown: managed
  })
})
export const countUsersMatchingMetadata = statement({
  name: 'auth.count_users_with_metadata',
  takes: withMetadata,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`auth.users where ${matching} and ${metadataMatchSql('$metadata')}`)
})
export const countUsers = statement({
  name: 'auth.count_users',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`auth.users where ${matching}`)
})
/** Lists users by the time of their last change. `at` is in microseconds since 1970. */
export const listChangedUsers = statement({
  name: 'auth.list_changed_users',
  takes: { at: 'float8', after: 'uuid', limit: 'int8' },
  gives: { ...MANAGED, changed_at: 'int8' },
  slow: true,
  text: `
    select ${managed}, (extract(epoch from updated_at) * 1000000)::int8 as changed_at
    from auth.users
    where (updated_at, id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $after)
    order by updated_at, id limit $limit`
})
export const countChangedUsers = statement({
  name: 'auth.count_changed_users',
  takes: { since: 'timestamptz' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('auth.users where updated_at >= $since')
})
export const findUserWithDisabledAt = statement({
  name: 'auth.find_managed_user',
  takes: { id: 'uuid' },
  gives: MANAGED,
  text: `select ${managed} from auth.users where id = $id`
})
/** Counts customers by day of registration. Days begin at `starts`, and the last ends at `end`. */
export const countRegistrationsByDay = statement({
  name: 'auth.count_registered',
  takes: { starts: 'text[]', end: 'timestamptz' },
  gives: { day: 'int4', customers: 'int8' },
  slow: true,
  text: `
    select width_bucket(created_at, (select $starts::text[]::timestamptz[])) as day, count(*) as customers from auth.users
    where created_at >= ($starts::text[]::timestamptz[])[1] and created_at < $end and role = 'customer'
    group by 1 order by 1`
})
