import type { Queryable } from '../../../platform/postgres/database.ts'
import type { TemplateName } from './catalogue.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { listTemplate, type TemplateRow } from './repository.ts'
import type { Words } from './words.ts'

/** The templates that come along, by their languages. */
export const shipped: Readonly<Record<string, Readonly<Record<TemplateName, Words>>>> = {
  en: english,
  de: german
}
const LAST = 'en'

/** A language tag, and those that are less exact: `de-CH`, and then `de`. */
const fallbacksOf = (locale: string): string[] => {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

export const wordsOf = ({ subject, body_text: text, body_html: html }: TemplateRow): Words => ({
  subject,
  text,
  html
})

export type FoundTemplate = { readonly words: Words; readonly locale: string }

export function createTemplates({ db, locale: shopLocale }: { db: Queryable; locale: string }) {
  return {
    /**
     * In this language, or one less exact, or that of the shop; an administrator's before those that come along. What follows
     * the first one stands in for it when it fails.
     */
    find: async (name: TemplateName, wanted: string): Promise<[FoundTemplate, ...FoundTemplate[]]> => {
      const wantedTags = fallbacksOf(wanted)
      const locales = [...new Set([...wantedTags, ...fallbacksOf(shopLocale), LAST])]
      const rows = await db.rows(listTemplate, { name, locales })
      const [first, ...others] = locales.flatMap(tag => {
        const row = rows.find(each => each.locale === tag)
        const locale = wantedTags.includes(tag) ? wanted : tag
        return [row && wordsOf(row), shipped[tag]?.[name]].flatMap(words => (words ? { words, locale } : []))
      })
      if (first === undefined) throw new Error(`there is no template ${name}`)
      return [first, ...others]
    }
  }
}
export type Templates = ReturnType<typeof createTemplates>
