const TABLE =
  /(\b[a-z]+\s+)?\b(from|join|into|update|using)\s+(?:only\s+|lateral\s+)?([a-z_][a-z0-9_]*)(?:\.([a-z_][a-z0-9_]*))?(\s*\()?/g
const COMMON_TABLE =
  /(?:\bwith|,)\s+(?:recursive\s+)?([a-z_][a-z0-9_]*)(?:\s*\([^)]*\))?\s+as\s+(?:not\s+)?(?:materialized\s+)?\(/g
const NOT_IN_FRONT = new Set(['distinct', 'for', 'do', 'key'])
const NO_NAME = new Set(['select', 'values', 'set', 'skip', 'nowait'])
const FIELD_OF_FUNCTION = /\b(?:extract|trim|substring|overlay)\s*\([^()]*$/

/** The tables that an SQL text names: `schema` is undefined where it is left out. CTEs and functions are no tables. */
export function tablesOf(sql: string): { schema: string | undefined; table: string }[] {
  const text = sql.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''")
  const common = new Set([...text.matchAll(COMMON_TABLE)].map(match => match[1]))
  return [...text.matchAll(TABLE)].flatMap(match => {
    const [, before = '', keyword, first = '', second, call] = match
    const isFunction = call !== undefined && second === undefined && keyword !== 'into'
    const isOther = NOT_IN_FRONT.has(before.trim()) || NO_NAME.has(first) || isFunction || common.has(first)
    if (isOther || FIELD_OF_FUNCTION.test(text.slice(0, match.index + before.length))) return []
    return [second === undefined ? { schema: undefined, table: first } : { schema: first, table: second }]
  })
}

export const isSql = (text: string) => /^\s*(?:--|select|insert|update|delete|with|lock|values)\b/.test(text)
