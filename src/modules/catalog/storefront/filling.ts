import { createLru } from '../../../kernel/lru.ts'

const NULL = 'null'
const TEXTS_MAX = 5_000
const LENGTHS_MAX = 33_554_432

/** A page cut where values go: one piece more than there are ids. `text`: as it was last filled, with `values`. */
type Cut<V> = {
  readonly pieces: readonly string[]
  readonly ids: readonly string[]
  values: readonly V[]
  text: string
}
type Filling<V> = {
  /** The member, which is null in pages that are kept. */
  member: string
  /** Of what it is a member, in the order of the page. */
  idsOf(page: string): string[]
  /** What is true now. The same value stands for the same text. */
  valuesOf(ids: readonly string[]): Promise<readonly V[]>
  write(value: V): string
}

/**
 * Fills values of the moment into the JSON of a page, which is kept without. As long as the values are the same it is the
 * same string: whoever hands it on finds its entity tag and its compressed form by that.
 */
export function createFilling<V>({ member, idsOf, valuesOf, write }: Filling<V>) {
  // Nothing else in a page reads like this: quotes within texts are escaped, and values of attributes are texts.
  const place = `"${member}":`
  const known = createLru<Cut<V>>({
    entriesMax: TEXTS_MAX,
    sizeMax: LENGTHS_MAX,
    sizeOf: (_cut, text) => 2 * text.length
  })
  const cut = (page: string): Cut<V> => ({
    pieces: page.split(place + NULL),
    ids: idsOf(page),
    values: [],
    text: page
  })
  function cutOf(page: string): Cut<V> {
    const before = known.get(page)
    if (before !== undefined) return before
    const made = cut(page)
    known.set(page, made)
    return made
  }

  /** `isKept`: whether the same page will come again. */
  return async (page: string, isKept = true): Promise<string> => {
    const made = isKept ? cutOf(page) : cut(page)
    const values = await valuesOf(made.ids)
    if (values.length !== made.values.length || values.some((value, index) => value !== made.values[index])) {
      const texts = values.map(write)
      made.text = made.pieces.reduce((text, piece, index) => `${text}${place}${texts[index - 1]}${piece}`)
      made.values = values
    }
    return made.text
  }
}
