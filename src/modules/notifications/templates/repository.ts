import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = {
  name: 'text',
  locale: 'text',
  subject: 'text',
  body_text: 'text',
  body_html: 'text',
  version: 'int4'
} as const

/** Lists the versions of one template in the given languages. */
export const listMailTemplateTranslations = statement({
  name: 'notifications.list_template',
  takes: { name: 'text', locales: 'text[]' },
  gives: columns,
  text: `
    select name, locale, subject, body_text, body_html, version from notifications.templates
    where name = $name and locale = any ($locales)`
})
export type MailTemplateTranslationRow = RowOf<typeof listMailTemplateTranslations>

export const STORED_MAIL_TEMPLATES_LISTED_MAX = 1_000
export const listStoredMailTemplates = statement({
  name: 'notifications.list_templates',
  gives: { name: 'text', locale: 'text', version: 'int4' },
  text: `
    select name, locale, version from notifications.templates
    order by name, locale limit ${STORED_MAIL_TEMPLATES_LISTED_MAX}`
})
/** Returns no row when the stored version differs. `version` is 0 for a template that is not stored yet. */
export const upsertMailTemplate = statement({
  name: 'notifications.put_template',
  takes: {
    name: 'text',
    locale: 'text',
    subject: 'text',
    body_text: 'text',
    body_html: 'text',
    version: 'int4'
  },
  gives: { version: 'int4' },
  text: `
    insert into notifications.templates (name, locale, subject, body_text, body_html)
    values ($name, $locale, $subject, $body_text, $body_html)
    on conflict (name, locale) do update set
      subject = excluded.subject, body_text = excluded.body_text, body_html = excluded.body_html,
      version = templates.version + 1, updated_at = now()
    where templates.version = $version
    returning version`
})
export const deleteMailTemplate = statement({
  name: 'notifications.delete_template',
  takes: { name: 'text', locale: 'text', version: 'int4' },
  text: 'delete from notifications.templates where name = $name and locale = $locale and version = $version'
})
