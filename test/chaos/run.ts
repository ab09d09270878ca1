import { spawnSync } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChaosRunOptions, ChaosSuite } from '../../src/cli/chaos.ts'
import { OperatorError } from '../../src/kernel/errors.ts'
import { actAsAdministrator } from './administrators.ts'
import { actAsBank } from './bank.ts'
import { actAsBuyer } from './buyers.ts'
import { createDice, type Dice } from './dice.ts'
import { type ChaosFault, chaosFaultsFor } from './faults.ts'
import { findBrokenPromises } from './judge.ts'
import { missingKinds, resolveOperations } from './operations.ts'
import { factsOf, type Report, reportOf } from './report.ts'
import { createRunRecord, type RunRecord } from './run-record.ts'
import { settle } from './settle.ts'
import { type ChaosStage, openStage } from './stage.ts'

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

/** Runs customers and administrators against the real program while faults are injected, and verifies the result. */
async function runChaos(asked: ChaosRunOptions): Promise<Report> {
  const { processes, seconds, seed, only, settledSeconds, log, signal } = asked
  const dice = createDice(seed)
  const capture = dice.of(['automatic', 'manual'] as const)
  const stage = await openStage(processes, capture, dice.split())
  const stopped = rejectOnAbort(signal)
  try {
    const chosen = chosenOf(chaosFaultsFor(stage), only)
    const record = createRunRecord()
    const acting = startActors(stage, record, dice)
    await delay(WARM_UP_MS)
    const harms = await injectFaults(stage, record, { chosen, seconds, dice: dice.split(), log, signal })
    await Promise.race([stopped, acting, untilAllSucceeded(record, asked)])
    record.stopping = true
    await Promise.race([stopped, acting])
    await Promise.race([stopped, resolveOperations({ record, http: stage.traffic.anywhere, dice })])
    const settled = await Promise.race([stopped, settle(stage, settledSeconds)])
    const broken = [
      ...settled.waiting.map(what => `not settled: ${what}`),
      ...(await findBrokenPromises(stage, record))
    ]
    const { diedAt, clocks } = stage
    const logged = broken.length === 0 ? [] : stage.site.takeLogLines()
    return { processes, seconds, seed, capture, harms, diedAt, clocks, settled, record, broken, logged }
  } finally {
    await stage.close()
  }
}

/** Resolves when each kind of operation has succeeded, or after `settledSeconds`. */
async function untilAllSucceeded(
  record: RunRecord,
  { settledSeconds, log }: Pick<ChaosRunOptions, 'settledSeconds' | 'log'>
): Promise<void> {
  const deadline = performance.now() + settledSeconds * 1_000
  if (missingKinds(record).length > 0) log('no more faults; operations that never succeeded are tried again')
  while (missingKinds(record).length > 0 && performance.now() < deadline) await delay(LOOK_EVERY_MS)
}

/** Returns a promise that rejects when `signal` aborts. No caller needs to await it. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new OperatorError('It was stopped before its end: nothing was judged.'))
  promise.catch(() => {})
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  return promise
}

function chosenOf(harms: readonly ChaosFault[], only: string): readonly ChaosFault[] {
  const chosen = harms.filter(({ name }) => name.includes(only))
  if (chosen.length > 0) return chosen
  const names = new Set(harms.map(({ name }) => `  ${name}`))
  throw new OperatorError(`No harm has "${only}" in its name. There are:\n${[...names].join('\n')}`)
}

function startActors(stage: ChaosStage, record: RunRecord, dice: Dice): Promise<unknown> {
  const { traffic, goods } = stage
  const client = () => ({ record, http: traffic.anywhere, dice: dice.split() })
  const fail = (error: unknown) => void record.wrong.add(String((error as Error)?.stack ?? error))
  return Promise.all(
    [
      ...goods.customers.map(account => actAsBuyer({ ...client(), goods, account })),
      ...goods.counted.map(counted => actAsAdministrator({ ...client(), goods, counted })),
      actAsBank(stage, record, dice.split())
    ].map(acting => acting.catch(fail))
  )
}

type InjectionOptions = Pick<ChaosRunOptions, 'seconds' | 'log' | 'signal'> & {
  chosen: readonly ChaosFault[]
  dice: Dice
}

/** Injects one fault after the other. Returns how often each occurred. */
async function injectFaults(
  stage: ChaosStage,
  record: RunRecord,
  { chosen, seconds, dice, log, signal }: InjectionOptions
) {
  const harms = new Map<string, number>()
  const startedAt = performance.now()
  const passed = () => (performance.now() - startedAt) / 1_000
  while (passed() < seconds && !signal.aborted) {
    const harm = dice.of(chosen)
    log(`${Math.floor(passed())} of ${seconds} s: ${harm.name}`)
    await injectFault(stage, record, harm, { dice, signal })
    harms.set(harm.name, (harms.get(harm.name) ?? 0) + 1)
    await delay(dice.below(BETWEEN_HARMS_MS_MAX))
  }
  return harms
}

async function injectFault(
  stage: ChaosStage,
  record: RunRecord,
  { name, seconds, kills, plant }: ChaosFault,
  { dice, signal }: Pick<InjectionOptions, 'dice' | 'signal'>
) {
  const mend = await plant(stage, dice)
  // An abort ends the fault immediately.
  await delay(seconds * 1_000, undefined, { signal }).catch(() => {})
  await mend()
  const ended = await stage.site.recover()
  if (!kills) for (const each of ended) record.wrong.add(`${name}: ${each}`)
}
