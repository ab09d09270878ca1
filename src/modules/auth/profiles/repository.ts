import type { MetadataChange } from '../../../kernel/metadata.ts'
import { mergedMetadataSql } from '../../../platform/postgres/metadata.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'

/** Locks the profile until `tx` ends, so that concurrent updates do not overwrite each other. */
export const lockUserProfile = statement({
  name: 'auth.lock_profile',
  takes: { id: 'uuid' },
  gives: { name: 'text?', phone: 'text?', locale: 'text?', marketing_consent: 'bool' },
  text: `
    select name, phone, locale, marketing_consent_at is not null as marketing_consent
    from auth.users where id = $id for update`
})
/** Keeps the time of an earlier consent. */
export const updateUserProfile = statement({
  name: 'auth.update_profile',
  takes: {
    id: 'uuid',
    name: 'text?',
    phone: 'text?',
    locale: 'text?',
    marketing_consent: 'bool',
    metadata: json<MetadataChange>()
  },
  text: `
    update auth.users set
      name = $name, phone = $phone, locale = $locale, metadata = ${mergedMetadataSql('metadata', '$metadata')},
      marketing_consent_at = case when $marketing_consent then coalesce(marketing_consent_at, now()) end,
      updated_at = now()
    where id = $id`
})
