import pg from 'pg'

export type ResultRow = Record<string, unknown>
type Parse = (text: string) => unknown
/** The columns of a result, from the row description of the first execution on a connection. */
export type ResultColumns = {
  readonly names: readonly string[]
  readonly parsers: readonly Parse[]
  readonly empty: ResultRow
}
export type ResultField = { name: string; dataTypeID: number }

export function readResultColumns(fields: readonly ResultField[]): ResultColumns {
  const names = fields.map(({ name }) => name)
  return {
    names,
    parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID) as Parse),
    empty: Object.fromEntries(names.map(name => [name, null]))
  }
}

/** @throws the error of a parser, such as a RangeError for a bigint that is too large. */
export function readResultRow(
  { names, parsers, empty }: ResultColumns,
  texts: readonly (string | null)[]
): ResultRow {
  const row = { ...empty }
  for (let index = 0; index < names.length; index += 1) {
    const text = texts[index]
    if (typeof text === 'string') row[names[index] as string] = (parsers[index] as Parse)(text)
  }
  return row
}
