import { randomInt } from 'node:crypto'
import { OperatorError } from '../kernel/errors.ts'

/** The options of one run: faults are injected for `seconds` into one shop with this number of processes. */
export type ChaosRunOptions = {
  processes: number
  seconds: number
  seed: number
  /** Only faults whose name contains this text are injected. Empty: all. */
  only: string
  /** Seconds after the last fault within which the shop must settle. */
  settledSeconds: number
  log: (line: string) => void
  /** Aborts the run early: it removes what it created, and rejects. */
  signal: AbortSignal
}
/** The result of a run. `broken`: violated guarantees, a sentence each. `facts`: the report for JSON. `text`: for people. */
export type ChaosOutcome = { broken: readonly string[]; facts: object; text: string }
/** The exports of `test/chaos/run.ts` in a source checkout. */
export type ChaosSuite = { run: (asked: ChaosRunOptions) => Promise<ChaosOutcome> }

type Options = {
  minutes: string
  processes: string
  seed?: string
  only: string
  settled: string
  json: boolean
}

const SUITE = new URL('../../test/chaos/run.ts', import.meta.url)
const MINUTES_MAX = 1_440
const PROCESSES_MAX = 16
const SEEDS = 1_000_000
const SETTLED_SECONDS_MAX = 3_600
const STOP_MS_MAX = 60_000

/** Runs the chaos suite of this checkout against test shops and prints the results. Exit code 1 when a guarantee was violated. */
export async function runChaos(options: Options): Promise<void> {
  const { only, json } = options
  const seconds = numberOf('--minutes', options.minutes, MINUTES_MAX) * 60
  const counts = options.processes.split(',').map(count => wholeNumberOf('--processes', count, PROCESSES_MAX))
  const seed = wholeNumberOf('--seed', options.seed ?? String(randomInt(1, SEEDS)), SEEDS)
  const settledSeconds = numberOf('--settled', options.settled, SETTLED_SECONDS_MAX)
  const suite = await loadSuite()
  const { signal } = stopping()
  const outcomes: ChaosOutcome[] = []
  for (const processes of counts) {
    const log = (line: string) => void process.stderr.write(`${line}\n`)
    const outcome = await suite.run({ processes, seconds, seed, only, settledSeconds, log, signal })
    if (!json) process.stdout.write(`${outcome.text}\n\n`)
    outcomes.push(outcome)
  }
  if (json) process.stdout.write(`${JSON.stringify({ runs: outcomes.map(({ facts }) => facts) })}\n`)
  if (outcomes.some(({ broken }) => broken.length > 0)) process.exitCode = 1
}

/** Aborts on SIGINT or SIGTERM. The process exits after 60 seconds at the latest. */
function stopping(): AbortController {
  const controller = new AbortController()
  const stop = () => {
    controller.abort()
    setTimeout(() => process.exit(1), STOP_MS_MAX).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  return controller
}

/** Loads the suite. The published package does not contain it, because it uses the tests and their dependencies. */
async function loadSuite(): Promise<ChaosSuite> {
  try {
    return await import(SUITE.href)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new OperatorError(
      'The chaos suite is not in the package. In a checkout of Cartwright, run "npm ci", and then "npm run chaos".'
    )
  }
}

function numberOf(option: string, text: string, most: number): number {
  const number = Number(text)
  if (!(number > 0 && number <= most))
    throw new OperatorError(`${option} ${text} must be a number above 0 and at most ${most}.`)
  return number
}

function wholeNumberOf(option: string, text: string, most: number): number {
  const number = numberOf(option, text, most)
  if (!Number.isInteger(number)) throw new OperatorError(`${option} ${text} must be a whole number.`)
  return number
}
