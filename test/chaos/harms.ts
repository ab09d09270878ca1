import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { StoredObject } from '../../src/payment-sandbox/ledger.ts'
import { faults } from '../faults/network/faults.ts'
import type { Dice } from './dice.ts'
import { readLedger } from './ledger.ts'
import type { Stage } from './stage.ts'

/** Something that goes wrong for a while. */
export type Harm = {
  name: string
  seconds: number
  /** Whether it ends processes of the shop. */
  kills: boolean
  /** Answers how it is mended. */
  plant(stage: Stage, dice: Dice): Promise<() => Promise<unknown>>
}

const OF_THE_NETWORK = [
  'database: connections reset, again and again',
  'database: answers 0.2 s late',
  'database: connections lost both ways, new ones work',
  'database: connection reset before COMMIT',
  'database: connection reset behind COMMIT',
  'database: connection lost behind COMMIT',
  'database: backends terminated, again and again',
  'database: killed',
  'shop: frozen for 3 s',
  'shop: one process frozen for 5 s'
]

const ofTheNetwork = (processes: number): Harm[] =>
  faults
    .filter(({ name, processesMin }) => OF_THE_NETWORK.includes(name) && processesMin <= processes)
    .map(({ name, seconds, plant }) => ({ name, seconds, kills: false, plant: ({ site }) => plant(site) }))

const nothing = async () => {}

/** The process that sends a certain statement next dies: before it, or its commit, arrives, or when it has, and no answer has come. */
const atStatement = (when: 'before' | 'behind', what: 'statement' | 'commit'): Harm => ({
  name: `shop: killed ${when} a ${what}`,
  seconds: 0,
  kills: true,
  plant: async ({ site, diedAt }, dice) => {
    const victim = dice.of(site.processes)
    const { seen, last, onceAt, onceCommitted } = victim.statements
    const isCommit = what === 'commit'
    const places = [...(isCommit ? last : seen)].filter(isCommit ? isOfBuying : isFailpoint).sort()
    const named = (place: string) => `${place} ${when}${isCommit ? ' its commit' : ''}`
    const fresh = places.filter(place => !diedAt.has(named(place)))
    if (places.length === 0) return nothing
    const place = dice.of(fresh.length > 0 ? fresh : places)
    const died = Promise.withResolvers<void>()
    let isGone = Promise.resolve()
    const plant = isCommit ? onceCommitted : onceAt
    plant(place, () => {
      diedAt.add(named(place))
      isGone = victim.kill()
      died.resolve()
      return when === 'before' ? 'reset' : 'pass'
    })
    return async () => {
      await Promise.race([died.promise, delay(SENT_MS_MAX)])
      victim.statements.restore()
      await isGone
    }
  }
})
/** Buyers and payers send their requests within this time after the start of a phase. */
const SENT_MS_MAX = 4_000
/** Where whatever is bought or paid is written. */
const isOfBuying = (name: string) =>
  /^(?:orders|payments|inventory|pricing|cart|shipping|idempotency|outbox)\./.test(name)
const isFailpoint = (name: string) =>
  isOfBuying(name) && !/\.(?:find|list|count|is|are|measure|read)_/.test(name)

const killed = (name: string, chosen: (stage: Stage, dice: Dice) => Stage['site']['processes']): Harm => ({
  name,
  seconds: 0.5,
  kills: true,
  plant: async (stage, dice) => {
    await Promise.all(chosen(stage, dice).map(each => each.kill()))
    return nothing
  }
})

/** What the provider answers goes wrong so many times. */
const answers = (name: string, fault: string, ms = 0): Harm => ({
  name: `provider: ${name}`,
  seconds: 2,
  kills: false,
  plant: async ({ sandbox }) => {
    await sandbox.insist('/test/answers', { fault, times: 8, ms })
    return () => sandbox.insist('/test/answers', {})
  }
})
const callbacks = (name: string, fault: object, mend: object): Harm => ({
  name: `provider: ${name}`,
  seconds: 3,
  kills: false,
  plant: async ({ sandbox }) => {
    await sandbox.insist('/test/webhooks', fault)
    return () => sandbox.insist('/test/webhooks', mend)
  }
})

/** The latest events come again: everything is the same afterwards. */
const again = (name: string, change: (event: StoredObject) => StoredObject): Harm => ({
  name: `provider: ${name}`,
  seconds: 1,
  kills: false,
  plant: async ({ sandbox }, dice) => {
    const latest = (await readLedger(sandbox.folder)).events.slice(-EVENTS)
    const often = latest.flatMap(event => Array.from({ length: 1 + dice.below(TIMES_MAX) }, () => event))
    await Promise.all(dice.shuffled(often).map(event => sandbox.callBack(change(event))))
    return nothing
  }
})
const EVENTS = 20
const TIMES_MAX = 5

/**
 * An event of its own, of which only the amounts are not true. That a payment is over is believed whatever it was for: such an
 * event comes again as it was.
 */
function withAnotherAmount(event: StoredObject): StoredObject {
  const { object } = event.data as { object: StoredObject }
  if (object.status === 'canceled') return event
  const lie = { ...object, amount: 99_999, amount_captured: 99_999 }
  return { ...event, id: `evt_${newId()}`, data: { object: lie } }
}

/** What is held for an order that is being placed is given back before that has come to it. */
const expired: Harm = {
  name: 'stock: what is held expires at once',
  seconds: 4,
  kills: false,
  plant: async ({ site }) => {
    const timer = setInterval(() => {
      site.sql(`update inventory.reservations set expires_at = now() where state = 'held'`).catch(() => {})
    }, 20)
    return async () => clearInterval(timer)
  }
}

/** All that may go wrong with so many processes; what kills comes more often. */
export const harmsOf = ({ site: { processes, postmaster } }: Stage): readonly Harm[] => [
  ...ofTheNetwork(processes.length).filter(
    ({ name }) => postmaster !== undefined || name !== 'database: killed'
  ),
  ...Array.from({ length: 3 }, () => [
    ...[atStatement('before', 'statement'), atStatement('behind', 'statement')],
    ...[atStatement('before', 'commit'), atStatement('behind', 'commit')]
  ]).flat(),
  killed('shop: a process is killed', ({ site }, dice) => [dice.of(site.processes)]),
  killed('shop: all processes are killed', ({ site }) => site.processes),
  answers('answers are lost', 'drop'),
  answers('answers are late', 'delay', 1_500),
  answers('answers are errors', 'error'),
  answers('answers are of another amount', 'strange'),
  callbacks(
    'callbacks come twice, and the latest first',
    { double: true, reverse: true },
    { double: false, reverse: false }
  ),
  again('callbacks come again, up to five times, in any order, many at once', event => event),
  again('callbacks tell of another amount', withAnotherAmount),
  callbacks('callbacks come late', { hold: true }, { hold: false }),
  {
    name: 'provider: frozen',
    seconds: 3,
    kills: false,
    plant: async ({ sandbox }) => {
      sandbox.signal('SIGSTOP')
      return async () => sandbox.signal('SIGCONT')
    }
  },
  {
    name: 'provider: killed',
    seconds: 2,
    kills: false,
    plant: async ({ sandbox }) => {
      await sandbox.kill()
      return sandbox.start
    }
  },
  expired
]
