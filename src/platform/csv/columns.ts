/** Columns of a file that are ignored; `names` holds the first of them. */
export type IgnoredCsvColumns = { names: string[]; total: number }

export type CsvColumnPositions<F extends string> = {
  /** Number of columns in each row of the file. */
  width: number
  /** Column index of each field; absent when the file lacks it. */
  indexes: ReadonlyMap<F, number>
  ignored: IgnoredCsvColumns
  /** The name of the column in the file. */
  headingOf(field: F): string
}

const IGNORED_SHOWN_MAX = 100
const NAME_SHOWN_MAX = 100

/** Finds the columns of fields by their possible names, in any order, case-insensitively, among other columns. */
export function findCsvColumns<F extends string>(
  cells: readonly string[],
  headings: Readonly<Partial<Record<F, readonly string[]>>>
): CsvColumnPositions<F> {
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

/** The message that a file lacks these columns. */
export function missingCsvColumnsMessage(names: readonly string[], cells: readonly string[]): string {
  return `These columns are missing: ${names.join(', ')}.${hint(cells)}`
}

/** Copies a text, because a slice would keep its cell of up to 8 MB in memory. */
export const copyTextOutOfCsvCell = (text: string): string => Buffer.from(text).toString()

/** Columns without a name are named by their position, starting at 1. */
function ignoredOf(cells: readonly string[], read: ReadonlySet<number>): IgnoredCsvColumns {
  const places = [...cells.keys()].filter(index => !read.has(index))
  const names = places.slice(0, IGNORED_SHOWN_MAX).map(index => {
    const name = cells[index]?.trim() ?? ''
    return name === '' ? `column ${index + 1}` : copyTextOutOfCsvCell(name.slice(0, NAME_SHOWN_MAX))
  })
  return { names, total: places.length }
}

function hint(cells: readonly string[]): string {
  const [only = ''] = cells
  const separator = [';', '\t', '|'].find(each => only.includes(each))
  if (cells.length > 1 || separator === undefined) return ''
  return ` The columns seem to be separated by ${separator === '\t' ? 'tabs' : separator}; they must be by commas.`
}
