import { type CacheInvalidator, createCachedReader } from '../../../platform/cached.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { MailTemplateName } from './definitions.ts'
import { englishMailTemplates } from './english.ts'
import { germanMailTemplates } from './german.ts'
import type { MailTemplateSource } from './mail-parts.ts'
import {
  listMailTemplateTranslations,
  listStoredMailTemplates,
  type MailTemplateTranslationRow,
  STORED_MAIL_TEMPLATES_LISTED_MAX
} from './repository.ts'

/** The built-in templates by language. */
export const bundledMailTemplates: Readonly<
  Record<string, Readonly<Record<MailTemplateName, MailTemplateSource>>>
> = {
  en: englishMailTemplates,
  de: germanMailTemplates
}
const LAST_FALLBACK = 'en'

/** Returns a language tag and its parents: `de-CH`, then `de`. */
const fallbacksOf = (locale: string): string[] => {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

export const mailTemplateSourceOfRow = ({
  subject,
  body_text: text,
  body_html: html
}: MailTemplateTranslationRow): MailTemplateSource => ({
  subject,
  text,
  html
})

export type MailTemplateCandidate = { readonly source: MailTemplateSource; readonly locale: string }

type Deps = {
  db: Queryable
  /** The locale of the shop. */
  locale: string
  invalidation: CacheInvalidator
}

export function createMailTemplateFinder({ db, locale: shopLocale, invalidation }: Deps) {
  const stored = createCachedReader(invalidation, () => db.rows(listStoredMailTemplates))

  /** Lists the templates of administrators. Most shops have few, so their names are cached. */
  async function listStored(name: MailTemplateName, locales: readonly string[]) {
    const all = await stored()
    const mayBeStored =
      all.length === STORED_MAIL_TEMPLATES_LISTED_MAX ||
      all.some(each => each.name === name && locales.includes(each.locale))
    return mayBeStored ? db.rows(listMailTemplateTranslations, { name, locales }) : []
  }

  return {
    /**
     * Returns the templates to try, in order: the preferred language, its parents, the language of the shop, English. In each
     * language the template of an administrator comes before the built-in one.
     */
    find: async (
      name: MailTemplateName,
      preferred: string
    ): Promise<[MailTemplateCandidate, ...MailTemplateCandidate[]]> => {
      const preferredTags = fallbacksOf(preferred)
      const locales = [...new Set([...preferredTags, ...fallbacksOf(shopLocale), LAST_FALLBACK])]
      const rows = await listStored(name, locales)
      const [first, ...others] = locales.flatMap(tag => {
        const row = rows.find(each => each.locale === tag)
        const locale = preferredTags.includes(tag) ? preferred : tag
        const sources = [row && mailTemplateSourceOfRow(row), bundledMailTemplates[tag]?.[name]]
        return sources.flatMap(source => (source ? { source, locale } : []))
      })
      if (first === undefined) throw new Error(`there is no template ${name}`)
      return [first, ...others]
    }
  }
}
export type MailTemplateFinder = ReturnType<typeof createMailTemplateFinder>
