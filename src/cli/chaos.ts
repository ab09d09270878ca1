import { randomInt } from 'node:crypto'
import { OperatorError } from '../kernel/errors.ts'

/** What the suite is asked for: one shop of so many processes, and harm for so long. */
export type ChaosRun = {
  processes: number
  seconds: number
  seed: number
  /** A part of the names of the harms that are done; all, when it is empty. */
  only: string
  /** How soon after the last harm all has to be settled. */
  settledSeconds: number
  log: (line: string) => void
  /** Ends it before its time: it puts away what it has made, and throws. */
  signal: AbortSignal
}
/** What came of it: each promise that was not kept, in a sentence; all of it as JSON; and for people. */
export type ChaosOutcome = { broken: readonly string[]; facts: object; text: string }
/** What `test/chaos/run.ts` of a checkout exports. */
export type ChaosSuite = { run: (asked: ChaosRun) => Promise<ChaosOutcome> }

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

/** Has the suite of this checkout harm shops of its own, and prints what came of it. Exit code 1 when a promise was not kept. */
export async function harmShops(options: Options): Promise<void> {
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

/** Aborted when somebody wants the process to end. It does in any case, after a while. */
function stopping(): AbortController {
  const controller = new AbortController()
  const stop = () => {
    controller.abort()
    setTimeout(() => process.exit(1), STOP_MS_MAX).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop)
  return controller
}

/** It stands among the tests and uses their packages: a package of the shop has neither. */
async function loadSuite(): Promise<ChaosSuite> {
  try {
    return await import(SUITE.href)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new OperatorError(
      'The suite that does the harm is not in the package. In a checkout of Cartwright, write "npm ci", and then "npm run chaos".'
    )
  }
}

function numberOf(option: string, text: string, most: number): number {
  const number = Number(text)
  if (!(number > 0 && number <= most))
    throw new OperatorError(`${option} ${text} is no number above 0, at most ${most}.`)
  return number
}

function wholeNumberOf(option: string, text: string, most: number): number {
  const number = numberOf(option, text, most)
  if (!Number.isInteger(number)) throw new OperatorError(`${option} ${text} is no whole number.`)
  return number
}
