import { type FaultVerdict, formatDuration } from './evaluate-fault.ts'

/** The outcome of one fault. `logged`: the log lines of the program during the fault. */
export type FaultResult = FaultVerdict & { fault: string; processes: number; logged: string[] }

const COLUMNS: readonly [string, (result: FaultResult) => string][] = [
  ['fault', ({ fault }) => fault],
  ['processes', ({ processes }) => String(processes)],
  ['verdict', ({ broken }) => (broken.length === 0 ? 'kept' : '**BROKEN**')],
  ['requests', ({ measurements }) => String(measurements.requests)],
  ['503', ({ measurements }) => String(measurements.refused)],
  ['first success', ({ measurements }) => formatDuration(measurements.firstSuccessMs)],
  ['retried', ({ measurements }) => String(measurements.retried)],
  ['p99 of retried', ({ measurements }) => formatDuration(measurements.retriedP99Ms)],
  ['longest browse', ({ measurements }) => formatDuration(measurements.longestMs.browse)],
  ['longest account', ({ measurements }) => formatDuration(measurements.longestMs.account)],
  ['longest /healthz', ({ measurements }) => formatDuration(measurements.longestMs.diagnostics)],
  ['longest stall of the suite', ({ measurements }) => formatDuration(measurements.stallMs)]
]

/** A table of all faults, followed by every broken guarantee. In Markdown, aligned for a terminal. */
export function formatReport(results: readonly FaultResult[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    ...results.map(result => COLUMNS.map(([, format]) => format(result)))
  ]
  const widths = COLUMNS.map((_column, at) => Math.max(...rows.map(row => (row[at] as string).length)))
  const lines = rows.map(row => `| ${row.map((cell, at) => cell.padEnd(widths[at] as number)).join(' | ')} |`)
  lines.splice(1, 0, `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`)
  const failed = results.filter(({ broken }) => broken.length > 0)
  const details = failed.flatMap(result => ['', ...formatResult(result)])
  return [
    ...lines,
    '',
    `${results.length} faults, ${failed.length} with broken guarantees.`,
    ...details
  ].join('\n')
}

export function formatResult({ fault, processes, broken, logged }: FaultResult): string[] {
  return [
    `${fault} (${processes} ${processes === 1 ? 'process' : 'processes'}): ${broken.length === 0 ? 'kept' : 'BROKEN'}`,
    ...broken.map(guarantee => `  * ${guarantee}`),
    ...logged.map(line => `    logged: ${line}`)
  ]
}
