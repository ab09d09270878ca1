import type { TemplateName } from './catalogue.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import type { Words } from './words.ts'

/** The templates that come along, by their languages. */
export const shipped: Readonly<Record<string, Readonly<Record<TemplateName, Words>>>> = {
  en: english,
  de: german
}
const LAST = 'en'

/** A language tag, and those that are less exact: `de-CH` is `de-CH`, and then `de`. */
const fallbacksOf = (locale: string): string[] => {
  const parts = locale.split('-')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'))
}

export function createTemplates({ locale: shopLocale }: { locale: string }) {
  return {
    /** In this language, or one less exact, or that of the shop. */
    find: async (name: TemplateName, wanted: string): Promise<{ words: Words; locale: string }> => {
      const tags = [...fallbacksOf(wanted), ...fallbacksOf(shopLocale), LAST]
      for (const tag of tags) {
        const words = shipped[tag]?.[name]
        if (words !== undefined) return { words, locale: fallbacksOf(wanted).includes(tag) ? wanted : tag }
      }
      throw new Error(`there is no template ${name}`)
    }
  }
}
export type Templates = ReturnType<typeof createTemplates>
