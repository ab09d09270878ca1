import { createLruCache } from '../../../kernel/lru-cache.ts'

const NULL = 'null'
const TEXTS_MAX = 5_000
const LENGTHS_MAX = 33_554_432

/**
 * A page split at its placeholders: one piece more than ids. `text`: the page as last filled, with `values`.
 */
type SplitPage<V> = {
  readonly pieces: readonly string[]
  readonly ids: readonly string[]
  values: readonly V[]
  text: string
}
type PageFillerOptions<V> = {
  /** The JSON member to fill. It is null in cached pages. */
  member: string
  /** Returns the ids of the objects that have the member, in the order of the page. */
  idsOf(page: string): string[]
  /** Returns the present values. Identical values must give the same text. */
  valuesOf(ids: readonly string[]): Promise<readonly V[]>
  write(value: V): string
}

/**
 * Creates a function that fills present values into the cached JSON of a page. It returns the same string
 * while the values are the same, because the gateway caches ETag and compressed form by string.
 */
export function createJsonPageFiller<V>({ member, idsOf, valuesOf, write }: PageFillerOptions<V>) {
  // Only the member matches: quotes in texts are escaped, and attribute values are strings.
  const place = `"${member}":`
  const cached = createLruCache<SplitPage<V>>({
    entriesMax: TEXTS_MAX,
    sizeMax: LENGTHS_MAX,
    sizeOf: (_cut, text) => 2 * text.length
  })
  const splitPage = (page: string): SplitPage<V> => ({
    pieces: page.split(place + NULL),
    ids: idsOf(page),
    values: [],
    text: page
  })
  function findSplitPage(page: string): SplitPage<V> {
    const before = cached.get(page)
    if (before !== undefined) return before
    const made = splitPage(page)
    cached.set(page, made)
    return made
  }

  /** `isKept`: whether the page is cached and will be filled again. */
  return async (page: string, isKept = true): Promise<string> => {
    const made = isKept ? findSplitPage(page) : splitPage(page)
    const values = await valuesOf(made.ids)
    if (values.length !== made.values.length || values.some((value, index) => value !== made.values[index])) {
      const texts = values.map(write)
      made.text = made.pieces.reduce((text, piece, index) => `${text}${place}${texts[index - 1]}${piece}`)
      made.values = values
    }
    return made.text
  }
}
