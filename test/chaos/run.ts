import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { administer } from './administrators.ts'
import { type Book, openBook } from './book.ts'
import { buy } from './buyers.ts'
import { createDice, type Dice } from './dice.ts'
import { type Harm, harmsOf } from './harms.ts'
import { judge } from './judge.ts'
import { makeMischief } from './mischief.ts'
import { type Report, reportOf } from './report.ts'
import { settle } from './settle.ts'
import { openStage, type Stage } from './stage.ts'

const WARM_UP_MS = 2_000
const BETWEEN_HARMS_MS_MAX = 1_000
const SEEDS = 1_000_000

type Options = {
  processes: number
  seconds: number
  seed: number
  /** A part of the names of the harms that are done; all, when it is left out. */
  only?: string
  /** How soon after the last harm all has to be settled. Leases of processes that died run for up to 40 s. */
  settledSeconds?: number
  log?: (line: string) => void
}

/** Has people buy and pay in the real program while all kinds of harm are done to it, and judges what came of it. */
export async function runChaos({
  processes,
  seconds,
  seed,
  only = '',
  settledSeconds = 60,
  log = () => {}
}: Options): Promise<Report> {
  const dice = createDice(seed)
  const capture = dice.of(['automatic', 'manual'] as const)
  const stage = await openStage(processes, capture, dice.split())
  try {
    const book = openBook()
    const acting = startActors(stage, book, dice)
    await delay(WARM_UP_MS)
    const chosen = harmsOf(stage).filter(({ name }) => name.includes(only))
    const harms = await doHarm(stage, book, { chosen, seconds, dice: dice.split(), log })
    book.stopping = true
    await acting
    const settled = await settle(stage, settledSeconds)
    const broken = [...settled.waiting.map(what => `not settled: ${what}`), ...(await judge(stage, book))]
    const { diedAt, clocks } = stage
    const logged = broken.length === 0 ? [] : stage.site.logged()
    return { processes, seconds, seed, capture, harms, diedAt, clocks, settled, book, broken, logged }
  } finally {
    await stage.close()
  }
}

function startActors(stage: Stage, book: Book, dice: Dice): Promise<unknown> {
  const { traffic, goods } = stage
  const person = () => ({ book, http: traffic.anywhere, dice: dice.split() })
  const fail = (error: unknown) => void book.wrong.add(String((error as Error)?.stack ?? error))
  return Promise.all(
    [
      ...goods.customers.map(account => buy({ ...person(), goods, account })),
      administer({ ...person(), token: goods.admin }),
      makeMischief(stage, book, dice.split())
    ].map(acting => acting.catch(fail))
  )
}

type Course = { chosen: readonly Harm[]; seconds: number; dice: Dice; log: (line: string) => void }

/** One harm after the other; answers how often each was done. */
async function doHarm(stage: Stage, book: Book, { chosen, seconds, dice, log }: Course) {
  const harms = new Map<string, number>()
  const endsAt = performance.now() + seconds * 1_000
  while (performance.now() < endsAt) {
    const harm = dice.of(chosen)
    log(harm.name)
    await doOne(stage, book, harm, dice)
    harms.set(harm.name, (harms.get(harm.name) ?? 0) + 1)
    await delay(dice.below(BETWEEN_HARMS_MS_MAX))
  }
  return harms
}

async function doOne(stage: Stage, book: Book, { name, seconds, kills, plant }: Harm, dice: Dice) {
  const mend = await plant(stage, dice)
  await delay(seconds * 1_000)
  await mend()
  const ended = await stage.site.tidy()
  if (!kills) for (const each of ended) book.wrong.add(`${name}: ${each}`)
}

// By hand: `npm run chaos -- --minutes 5 --processes 1,3 --seed 42 --only provider`.
if (import.meta.main) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      processes: { type: 'string', default: '1,3' },
      seed: { type: 'string', default: String(randomInt(SEEDS)) },
      only: { type: 'string', default: '' },
      settled: { type: 'string', default: '60' }
    }
  })
  const log = (line: string) => process.stdout.write(`${line}\n`)
  let isBroken = false
  for (const processes of values.processes.split(',').map(Number)) {
    const report = await runChaos({
      processes,
      seconds: Number(values.minutes) * 60,
      seed: Number(values.seed),
      only: values.only,
      settledSeconds: Number(values.settled),
      log
    })
    log(`\n${reportOf(report)}\n`)
    isBroken ||= report.broken.length > 0
  }
  process.exit(isBroken ? 1 : 0)
}
