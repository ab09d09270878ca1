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

export type FoundTemplate = {
  readonly words: Words
  readonly locale: string
  /** What comes along in the same place, when the words are an administrator's. */
  readonly original: Words | undefined
}

export function createTemplates({ db, locale: shopLocale }: { db: Queryable; locale: string }) {
  return {
    /** In this language, or one less exact, or that of the shop; an administrator's before those that come along. */
    find: async (name: TemplateName, wanted: string): Promise<FoundTemplate> => {
      const locales = [...fallbacksOf(wanted), ...fallbacksOf(shopLocale), LAST]
      const rows = await db.rows(listTemplate, { name, locales })
      for (const tag of locales) {
        const row = rows.find(each => each.locale === tag)
        const original = shipped[tag]?.[name]
        const words = row === undefined ? original : wordsOf(row)
        if (words === undefined) continue
        const locale = fallbacksOf(wanted).includes(tag) ? wanted : tag
        return { words, locale, original: row === undefined ? undefined : original }
      }
      throw new Error(`there is no template ${name}`)
    }
  }
}
export type Templates = ReturnType<typeof createTemplates>
