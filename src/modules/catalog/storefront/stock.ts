import { LRUCache } from 'lru-cache'
import type { InventoryApi } from '../../inventory/index.ts'
import type { ProductResponse } from './schema.ts'

// Nothing else in a page reads like this: quotes within texts are escaped, and values of attributes are texts.
const PLACE = '"stock":'
const NULL = 'null'
const TEXTS_MAX = 5_000
const LENGTHS_MAX = 33_554_432

/** A page cut where numbers go: one piece more than there are variants. `text`: as it was last filled, with `numbers`. */
type Cut = {
  readonly pieces: readonly string[]
  readonly variantIds: readonly string[]
  numbers: readonly (number | null)[]
  text: string
}

/**
 * Fills the stock of its variants into the JSON of a product, which is kept without. As long as the numbers are the same
 * it is the same string: whoever hands it on finds its entity tag and its compressed form by that.
 */
export function createStockOfPages(inventory: Pick<InventoryApi, 'available'> | undefined) {
  const known = new LRUCache<string, Cut>({
    max: TEXTS_MAX,
    maxSize: LENGTHS_MAX,
    sizeCalculation: (_cut, text) => 2 * text.length
  })

  function cutOf(page: string): Cut {
    const before = known.get(page)
    if (before !== undefined) return before
    const { variants } = JSON.parse(page) as ProductResponse
    const cut: Cut = {
      pieces: page.split(PLACE + NULL),
      variantIds: variants.map(({ id }) => id),
      numbers: variants.map(() => null),
      text: page
    }
    known.set(page, cut)
    return cut
  }

  return async (page: string): Promise<string> => {
    if (inventory === undefined) return page
    const cut = cutOf(page)
    const numbers = await inventory.available(cut.variantIds)
    if (numbers.some((number, index) => number !== cut.numbers[index])) {
      cut.text = cut.pieces.reduce((text, piece, index) => `${text}${PLACE}${numbers[index - 1]}${piece}`)
      cut.numbers = numbers
    }
    return cut.text
  }
}
