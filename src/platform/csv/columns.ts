/** Columns of a file that are not read; `names` are the first of them. */
export type Ignored = { names: string[]; total: number }

export type Columns<F extends string> = {
  /** How many columns every row must have. */
  width: number
  /** Where a field stands; absent when the file does not have it. */
  indexes: ReadonlyMap<F, number>
  ignored: Ignored
  /** What the file calls it. */
  headingOf(field: F): string
}

const IGNORED_SHOWN_MAX = 100
const NAME_SHOWN_MAX = 100

/** Finds the columns of fields by what they may be called, in any order and among others, whatever the letters' case. */
export function findColumns<F extends string>(
  cells: readonly string[],
  headings: Readonly<Partial<Record<F, readonly string[]>>>
): Columns<F> {
  const names = cells.map(cell => cell.trim().toLowerCase())
  const indexes = new Map<F, number>()
  for (const [field, called] of Object.entries(headings) as [F, readonly string[]][]) {
    const wanted = called.map(heading => heading.toLowerCase())
    const index = names.findIndex(name => wanted.includes(name))
    if (index !== -1) indexes.set(field, index)
  }
  return {
    width: cells.length,
    indexes,
    ignored: ignoredOf(cells, new Set(indexes.values())),
    headingOf: field => cells[indexes.get(field) ?? -1]?.trim() ?? headings[field]?.[0] ?? field
  }
}

/** Why a file lacks these columns, in words. */
export function missingColumns(names: readonly string[], cells: readonly string[]): string {
  return `These columns are missing: ${names.join(', ')}.${hint(cells)}`
}

/** The same text. What JavaScript cut out of a cell would keep the cell in memory, which may have 8 MB. */
export const copyOf = (text: string): string => Buffer.from(text).toString()

/** Those with nothing in the header are called by their place, the first being 1. */
function ignoredOf(cells: readonly string[], read: ReadonlySet<number>): Ignored {
  const places = [...cells.keys()].filter(index => !read.has(index))
  const names = places.slice(0, IGNORED_SHOWN_MAX).map(index => {
    const name = cells[index]?.trim() ?? ''
    return name === '' ? `column ${index + 1}` : copyOf(name.slice(0, NAME_SHOWN_MAX))
  })
  return { names, total: places.length }
}

function hint(cells: readonly string[]): string {
  const [only = ''] = cells
  const separator = [';', '\t', '|'].find(each => only.includes(each))
  if (cells.length > 1 || separator === undefined) return ''
  return ` The columns seem to be separated by ${separator === '\t' ? 'tabs' : separator}; they must be by commas.`
}
