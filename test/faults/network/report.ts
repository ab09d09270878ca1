import { type Figures, shown, type Verdict } from './judge.ts'

/** The outcome of one fault. `logged`: the log lines of the program during the fault. */
export type Result = Verdict & { fault: string; processes: number; logged: string[] }

const COLUMNS: readonly [string, (result: Result & { figures: Figures }) => string][] = [
  ['fault', ({ fault }) => fault],
  ['processes', ({ processes }) => String(processes)],
  ['verdict', ({ broken }) => (broken.length === 0 ? 'kept' : '**BROKEN**')],
  ['requests', ({ figures }) => String(figures.requests)],
  ['503', ({ figures }) => String(figures.refused)],
  ['first success', ({ figures }) => shown(figures.firstSuccessMs)],
  ['retried', ({ figures }) => String(figures.retried)],
  ['their p99', ({ figures }) => shown(figures.retriedP99Ms)],
  ['longest browse', ({ figures }) => shown(figures.longestMs.browse)],
  ['longest account', ({ figures }) => shown(figures.longestMs.account)],
  ['longest /healthz', ({ figures }) => shown(figures.longestMs.diagnostics)],
  ['suite stood still', ({ figures }) => shown(figures.stallMs)]
]

/** A table of all faults, followed by every broken guarantee. In Markdown, aligned for a terminal. */
export function reportOf(results: readonly Result[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...results.map(result => COLUMNS.map(([, of]) => of(result)))
  ]
  const widths = COLUMNS.map((_column, at) => Math.max(...rows.map(row => (row[at] as string).length)))
  const lines = rows.map(row => `| ${row.map((cell, at) => cell.padEnd(widths[at] as number)).join(' | ')} |`)
  lines.splice(1, 0, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`)
  const failed = results.filter(({ broken }) => broken.length > 0)
  const details = failed.flatMap(result => ['', ...detailsOf(result)])
  return [...lines, '', `${results.length} faults, ${failed.length} with broken promises.`, ...details].join(
    '\n'
  )
}

export function detailsOf({ fault, processes, broken, logged }: Result): string[] {
  return [
    `${fault} (${processes} ${processes === 1 ? 'process' : 'processes'}): ${broken.length === 0 ? 'kept' : 'BROKEN'}`,
    ...broken.map(promise => `  * ${promise}`),
    ...logged.map(line => `    logged: ${line}`)
  ]
}
