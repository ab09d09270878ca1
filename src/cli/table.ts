/** Formats rows as aligned columns for a terminal. The last column is not padded. */
export function formatTextTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map(row => (row[column] ?? '').length))
  )
  const lineOf = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[head, ...rows].map(lineOf).join('\n')}\n`
}
