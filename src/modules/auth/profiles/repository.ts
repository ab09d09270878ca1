import { statement } from '../../../platform/postgres/statement.ts'

/** Held until `tx` ends: of two who change it, the second one sees what the first one did. */
export const lockProfile = statement({
  name: 'auth.lock_profile',
  takes: { id: 'uuid' },
  gives: { name: 'text?', phone: 'text?', locale: 'text?', marketing_consent: 'bool' },
  text: `
    select name, phone, locale, marketing_consent_at is not null as marketing_consent
    from auth.users where id = $id for update`
})
/** Consent that was given before keeps its time. */
export const updateProfile = statement({
  name: 'auth.update_profile',
  takes: { id: 'uuid', name: 'text?', phone: 'text?', locale: 'text?', marketing_consent: 'bool' },
  text: `
    update auth.users set
      name = $name, phone = $phone, locale = $locale,
      marketing_consent_at = case when $marketing_consent then coalesce(marketing_consent_at, now()) end
    where id = $id`
})
