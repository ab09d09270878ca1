import { createLruCache } from '../../../kernel/lru-cache.ts'
import type { ReadableField, ReadResourceFields, Resource } from '../../../kernel/resources.ts'
import type { CatalogPage } from '../revision/page-cache.ts'

const TEXTS_MAX = 1_000
const LENGTHS_MAX = 8_388_608
/** The place of a value: its field and the id of its object. No stored text begins with NUL, so no other value matches. */
const PLACE = /"\\u0000([a-z0-9_.]+):([0-9a-f-]{36})"/

type FieldOfPage = { readonly field: ReadableField; readonly ids: string[] }
/** The values of each field of a page; `undefined`: they could not be loaded. */
type PageValues = readonly (readonly unknown[] | undefined)[]
/** A page split at the places of its values: one piece more than places. */
type SplitPage = {
  readonly pieces: readonly string[]
  readonly places: readonly { readonly of: FieldOfPage; readonly index: number }[]
  readonly fields: readonly FieldOfPage[]
  lastFilled: { readonly text: string; readonly values: PageValues } | undefined
}
/** Objects of a page that show the fields of other modules. */
export type PageFields = ReturnType<typeof createPageFields>

/**
 * Fills the fields of other modules into the cached JSON of pages, because they change by themselves. A page is built with a
 * place for each value. Returns the same string while the values are the same, because the gateway caches ETag and compressed
 * form by string.
 */
export function createPageFields(fieldsOf: ReadResourceFields, resources: readonly Resource[]) {
  const cached = createLruCache<SplitPage>({
    entriesMax: TEXTS_MAX,
    sizeMax: LENGTHS_MAX,
    sizeOf: (_split, text) => 2 * text.length
  })
  const shownBy = (resource: Resource) => fieldsOf(resource, 'public')
  let known: readonly ReadableField[] | undefined
  /** The fields that are filled in. */
  const filled = () => {
    known ??= resources.flatMap(resource => fieldsOf(resource, 'public')).filter(({ isEnabled }) => isEnabled)
    return known
  }

  function split(page: string): SplitPage {
    const cut = page.split(PLACE)
    const fields = filled().map((field): FieldOfPage => ({ field, ids: [] }))
    const places = Array.from({ length: (cut.length - 1) / 3 }, (_, index) => {
      const of = fields.find(({ field }) => field.name === cut[3 * index + 1]) as FieldOfPage
      return { of, index: of.ids.push(cut[3 * index + 2] as string) - 1 }
    })
    return {
      pieces: cut.filter((_, index) => index % 3 === 0),
      places,
      fields: fields.filter(({ ids }) => ids.length > 0),
      lastFilled: undefined
    }
  }
  function splitOnce(page: string): SplitPage {
    const before = cached.get(page)
    if (before !== undefined) return before
    const made = split(page)
    cached.set(page, made)
    return made
  }

  return {
    /** Names the fields that pages have places for, so that processes with other modules share no cached page. */
    cacheKey: (): string =>
      filled()
        .map(({ name }) => name)
        .join(),
    /** Returns the members of an object for its page: the places of its values, or null for values that are always null. */
    placesOf: (resource: Resource, id: string): Record<string, string | null> =>
      Object.fromEntries(
        shownBy(resource).map(({ name, field, isEnabled }) => [
          field,
          isEnabled ? `\u0000${name}:${id}` : null
        ])
      ),
    /** Fills the present values into a page. The filled page is current as long as the page and the values are. */
    fill: async (page: CatalogPage): Promise<CatalogPage> => {
      const { json, isCurrent } = page
      if (filled().length === 0) return page
      const made = isCurrent ? splitOnce(json) : split(json)
      const { text, values } = await fillSplit(made)
      return { ...page, json: text, isCurrent: isCurrent && whileSame(isCurrent, made.fields, values) }
    }
  }

  async function fillSplit(made: SplitPage): Promise<NonNullable<SplitPage['lastFilled']>> {
    const { pieces, places, fields } = made
    const values: PageValues = await Promise.all(fields.map(({ field, ids }) => field.load(ids)))
    const { lastFilled } = made
    if (lastFilled?.values.every((each, at) => isSame(each, values[at]))) return lastFilled
    const texts = places.map(({ of, index }) =>
      of.field.stringify(values[fields.indexOf(of)]?.[index] ?? null)
    )
    const text = pieces.reduce((text, piece, index) => `${text}${texts[index - 1]}${piece}`)
    made.lastFilled = { text, values }
    return made.lastFilled
  }
}

/**
 * Returns whether a filled page is current: its values are in memory, and the same as when it was filled. Apart from `fill`,
 * because the gateway keeps the function, and would keep the text with it.
 */
const whileSame =
  (isCurrent: () => boolean, fields: readonly FieldOfPage[], values: PageValues) => (): boolean =>
    isCurrent() &&
    fields.every(({ field, ids }, at) => {
      const before = values[at]
      return before !== undefined && isSame(before, field.loadCached?.(ids))
    })

const isSame = (before: readonly unknown[] | undefined, after: readonly unknown[] | undefined): boolean =>
  before === after ||
  (before?.length === after?.length && before?.every((value, index) => value === after?.[index]) === true)
