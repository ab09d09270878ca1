import pg from 'pg'

export type Row = Record<string, unknown>
type Parse = (text: string) => unknown
/** The columns of a statement, as the server described them when it ran for the first time on a connection. */
export type Columns = {
  readonly names: readonly string[]
  readonly parsers: readonly Parse[]
  readonly empty: Row
}
export type Field = { name: string; dataTypeID: number }

export function columnsOf(fields: readonly Field[]): Columns {
  const names = fields.map(({ name }) => name)
  return {
    names,
    parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID) as Parse),
    empty: Object.fromEntries(names.map(name => [name, null]))
  }
}

/** @throws what a parser throws, such as a RangeError for a bigint that is too large. */
export function rowOf({ names, parsers, empty }: Columns, texts: readonly (string | null)[]): Row {
  const row = { ...empty }
  for (let index = 0; index < names.length; index += 1) {
    const text = texts[index]
    if (typeof text === 'string') row[names[index] as string] = (parsers[index] as Parse)(text)
  }
  return row
}
