import { type OperationTally, tallyOf } from './operations.ts'
import type { RunRecord } from './run-record.ts'
import type { SettleResult } from './settle.ts'

export type Report = {
  processes: number
  seconds: number
  seed: number
  capture: 'automatic' | 'manual'
  /** How often each was done. */
  harms: ReadonlyMap<string, number>
  diedAt: ReadonlySet<string>
  /** By how much the clock of each process was wrong, in seconds. */
  clocks: readonly number[]
  settled: SettleResult
  record: RunRecord
  /** Each promise that was not kept, in a sentence. */
  broken: readonly string[]
  /** What the program wrote meanwhile. */
  logged: readonly string[]
}

/** What was done, what came of it, and what is wrong, for people. */
export function reportOf(report: Report): string {
  const { processes, seconds, seed, capture, harms, diedAt, clocks, settled, record, broken, logged } = report
  const verdict = broken.length === 0 ? 'every promise was kept' : `${broken.length} PROMISES WERE BROKEN`
  return [
    `${verdict}: ${processes} ${processes === 1 ? 'process' : 'processes'}, ${seconds} s of harm, seed ${seed}, capture ${capture}`,
    `settled ${(settled.milliseconds / 1_000).toFixed(1)} s after the last harm, last of all ${settled.slowest.join(', ') || 'nothing'}`,
    `${record.attempts.length} orders were requested, at clocks that are wrong by ${clocks.join(', ')} s`,
    '',
    `operations:${'tried'.padStart(18)}${'acknowledged'.padStart(14)}${'refused'.padStart(9)}`,
    ...[...tallyOf(record)].map(tallied),
    '',
    'harm:',
    ...counted(harms),
    ...(diedAt.size > 0 ? [`  killed at ${[...diedAt].sort().join(', ')}`] : []),
    '',
    'requests of clients, and their responses:',
    ...counted(record.counts),
    ...(broken.length > 0 ? ['', 'broken:', ...broken.map(each => `  * ${each}`)] : []),
    ...(logged.length > 0 ? ['', 'logged:', ...logged.map(each => `  ${each}`)] : [])
  ].join('\n')
}

/** The same as JSON. */
export const factsOf = ({ harms, diedAt, clocks, settled, record, ...report }: Report): object => ({
  processes: report.processes,
  seconds: report.seconds,
  seed: report.seed,
  capture: report.capture,
  clocks_seconds: clocks,
  harms: Object.fromEntries(harms),
  died_at: [...diedAt].sort(),
  settled_milliseconds: Math.round(settled.milliseconds),
  settled_last: settled.slowest,
  orders_requested: record.attempts.length,
  operations: Object.fromEntries(tallyOf(record)),
  told: Object.fromEntries(record.counts),
  broken: report.broken,
  logged: report.logged
})

const tallied = ([kind, { tried, acknowledged, refused }]: [string, OperationTally]) =>
  `  ${kind.padEnd(24)}${column(tried, 3)}${column(acknowledged, 14)}${column(refused, 9)}`
const column = (count: number, width: number) => String(count).padStart(width)

const counted = (counts: ReadonlyMap<string, number>): string[] =>
  [...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([what, times]) => `  ${String(times).padStart(5)}  ${what}`)
