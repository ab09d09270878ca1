import type { PostalAddress } from '../../../kernel/address.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'

/** Deletes a user. Cascades to sessions, tokens, addresses and external identities. */
export const deleteUser = statement({
  name: 'auth.delete_user',
  takes: { id: 'uuid' },
  text: 'delete from auth.users where id = $id'
})
/** Reads the personal data of a user in auth, without secrets. */
export const findUserForExport = statement({
  name: 'auth.export_user',
  takes: { id: 'uuid' },
  gives: {
    email: 'text?',
    email_verified_at: 'timestamptz?',
    former_email: 'text?',
    name: 'text?',
    phone: 'text?',
    locale: 'text?',
    marketing_consent_at: 'timestamptz?',
    metadata: 'jsonb',
    role: 'text',
    disabled_at: 'timestamptz?',
    created_at: 'timestamptz'
  },
  text: `
    select email, email_verified_at, former_email, name, phone, locale, marketing_consent_at, metadata, role, disabled_at,
      created_at
    from auth.users where id = $id`
})
export const listAddressesForExport = statement({
  name: 'auth.export_addresses',
  takes: { id: 'uuid' },
  gives: {
    address: json<PostalAddress>(),
    default_shipping: 'bool',
    default_billing: 'bool',
    created_at: 'timestamptz',
    updated_at: 'timestamptz'
  },
  text: `
    select address, default_shipping, default_billing, created_at, updated_at
    from auth.addresses where user_id = $id order by id`
})
export const listSessionsForExport = statement({
  name: 'auth.export_sessions',
  takes: { id: 'uuid' },
  gives: {
    user_agent: 'text?',
    created_at: 'timestamptz',
    last_used_at: 'timestamptz',
    expires_at: 'timestamptz'
  },
  text: `
    select user_agent, created_at, last_used_at, expires_at from auth.sessions where user_id = $id order by id`
})
export const listExternalIdentitiesForExport = statement({
  name: 'auth.export_external_identities',
  takes: { id: 'uuid' },
  gives: { issuer: 'text', subject: 'text', created_at: 'timestamptz' },
  text: `
    select issuer, subject, created_at from auth.external_identities where user_id = $id order by issuer, subject`
})
