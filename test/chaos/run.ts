import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChaosRun, ChaosSuite } from '../../src/cli/chaos.ts'
import { OperatorError } from '../../src/kernel/errors.ts'
import { administer } from './administrators.ts'
import { type Book, openBook } from './book.ts'
import { buy } from './buyers.ts'
import { createDice, type Dice } from './dice.ts'
import { type Harm, harmsOf } from './harms.ts'
import { judge } from './judge.ts'
import { makeMischief } from './mischief.ts'
import { missingKinds, resolveOperations } from './operations.ts'
import { factsOf, type Report, reportOf } from './report.ts'
import { settle } from './settle.ts'
import { openStage, type Stage } from './stage.ts'

const WARM_UP_MS = 2_000
const BETWEEN_HARMS_MS_MAX = 1_000
const LOOK_EVERY_MS = 200

/** What the command `chaos` runs. */
export const run: ChaosSuite['run'] = async asked => {
  if (spawnSync('redis-server', ['--version']).error !== undefined)
    throw new OperatorError('This needs redis-server: install Redis, or put it into PATH.')
  const report = await runChaos(asked)
  return { broken: report.broken, facts: factsOf(report), text: reportOf(report) }
}

/** Has people buy and pay in the real program while all kinds of harm are done to it, and judges what came of it. */
async function runChaos(asked: ChaosRun): Promise<Report> {
  const { processes, seconds, seed, only, settledSeconds, log, signal } = asked
  const dice = createDice(seed)
  const capture = dice.of(['automatic', 'manual'] as const)
  const stage = await openStage(processes, capture, dice.split())
  const stopped = whenStopped(signal)
  try {
    const chosen = chosenOf(harmsOf(stage), only)
    const book = openBook()
    const acting = startActors(stage, book, dice)
    await delay(WARM_UP_MS)
    const harms = await doHarm(stage, book, { chosen, seconds, dice: dice.split(), log, signal })
    await Promise.race([stopped, acting, untilAllSucceeded(book, asked)])
    book.stopping = true
    await Promise.race([stopped, acting])
    await Promise.race([stopped, resolveOperations({ book, http: stage.traffic.anywhere, dice })])
    const settled = await Promise.race([stopped, settle(stage, settledSeconds)])
    const broken = [...settled.waiting.map(what => `not settled: ${what}`), ...(await judge(stage, book))]
    const { diedAt, clocks } = stage
    const logged = broken.length === 0 ? [] : stage.site.logged()
    return { processes, seconds, seed, capture, harms, diedAt, clocks, settled, book, broken, logged }
  } finally {
    await stage.close()
  }
}

/** Returns when each kind of operation has succeeded, or when that takes too long: a short run has no time for each. */
async function untilAllSucceeded(
  book: Book,
  { settledSeconds, log }: Pick<ChaosRun, 'settledSeconds' | 'log'>
): Promise<void> {
  const deadline = performance.now() + settledSeconds * 1_000
  if (missingKinds(book).length > 0) log('the harm is over; operations that never succeeded are tried again')
  while (missingKinds(book).length > 0 && performance.now() < deadline) await delay(LOOK_EVERY_MS)
}

/** Rejects then. No caller needs to await it. */
function whenStopped(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new OperatorError('It was stopped before its end: nothing was judged.'))
  promise.catch(() => {})
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return promise
}

function chosenOf(harms: readonly Harm[], only: string): readonly Harm[] {
  const chosen = harms.filter(({ name }) => name.includes(only))
  if (chosen.length > 0) return chosen
  const names = new Set(harms.map(({ name }) => `  ${name}`))
  throw new OperatorError(`No harm has "${only}" in its name. There are:\n${[...names].join('\n')}`)
}

function startActors(stage: Stage, book: Book, dice: Dice): Promise<unknown> {
  const { traffic, goods } = stage
  const person = () => ({ book, http: traffic.anywhere, dice: dice.split() })
  const fail = (error: unknown) => void book.wrong.add(String((error as Error)?.stack ?? error))
  return Promise.all(
    [
      ...goods.customers.map(account => buy({ ...person(), goods, account })),
      ...goods.counted.map(counted => administer({ ...person(), goods, counted })),
      makeMischief(stage, book, dice.split())
    ].map(acting => acting.catch(fail))
  )
}

type Course = Pick<ChaosRun, 'seconds' | 'log' | 'signal'> & { chosen: readonly Harm[]; dice: Dice }

/** One harm after the other; answers how often each was done. */
async function doHarm(stage: Stage, book: Book, { chosen, seconds, dice, log, signal }: Course) {
  const harms = new Map<string, number>()
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1_000
  while (passed() < seconds && !signal.aborted) {
    const harm = dice.of(chosen)
    log(`${Math.floor(passed())} of ${seconds} s: ${harm.name}`)
    await doOne(stage, book, harm, { dice, signal })
    harms.set(harm.name, (harms.get(harm.name) ?? 0) + 1)
    await delay(dice.below(BETWEEN_HARMS_MS_MAX))
  }
  return harms
}

async function doOne(
  stage: Stage,
  book: Book,
  { name, seconds, kills, plant }: Harm,
  { dice, signal }: Pick<Course, 'dice' | 'signal'>
) {
  const mend = await plant(stage, dice)
  // It is mended at once when everything is to end.
  await delay(seconds * 1_000, undefined, { signal }).catch(() => {})
  await mend()
  const ended = await stage.site.tidy()
  if (!kills) for (const each of ended) book.wrong.add(`${name}: ${each}`)
}
