import type { Queryable } from '../../../platform/postgres/database.ts'
import type { TemplateName } from './definitions.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { TemplateSource } from './mail-parts.ts'
import { listTemplate, type TemplateRow } from './repository.ts'

/** The built-in templates by language. */
export const bundledTemplates: Readonly<Record<string, Readonly<Record<TemplateName, TemplateSource>>>> = {
  en: english,
  de: german
}
const LAST_FALLBACK = 'en'

/** Returns a language tag and its parents: `de-CH`, then `de`. */
const fallbacksOf = (locale: string): string[] => {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

export const sourceOf = ({ subject, body_text: text, body_html: html }: TemplateRow): TemplateSource => ({
  subject,
  text,
  html
})

export type TemplateCandidate = { readonly source: TemplateSource; readonly locale: string }

export function createTemplates({ db, locale: shopLocale }: { db: Queryable; locale: string }) {
  return {
    /**
     * Returns the templates to try, in order: the preferred language, its parents, the language of the shop, English. In each
     * language the template of an administrator comes before the built-in one.
     */
    find: async (
      name: TemplateName,
      preferred: string
    ): Promise<[TemplateCandidate, ...TemplateCandidate[]]> => {
      const preferredTags = fallbacksOf(preferred)
      const locales = [...new Set([...preferredTags, ...fallbacksOf(shopLocale), LAST_FALLBACK])]
      const rows = await db.rows(listTemplate, { name, locales })
      const [first, ...others] = locales.flatMap(tag => {
        const row = rows.find(each => each.locale === tag)
        const locale = preferredTags.includes(tag) ? preferred : tag
        const sources = [row && sourceOf(row), bundledTemplates[tag]?.[name]]
        return sources.flatMap(source => (source ? { source, locale } : []))
      })
      if (first === undefined) throw new Error(`there is no template ${name}`)
      return [first, ...others]
    }
  }
}
export type Templates = ReturnType<typeof createTemplates>
