import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { SandboxObject } from '../../src/payment-sandbox/ledger.ts'
import { faults } from '../faults/network/faults.ts'
import type { Dice } from './dice.ts'
import { readLedger } from './ledger.ts'
import type { ChaosStage } from './stage.ts'

/** A fault that lasts for a while. */
export type ChaosFault = {
  name: string
  seconds: number
  /** Whether it ends processes of the shop. */
  kills: boolean
  /** Injects the fault. Returns the function that ends it. */
  plant(stage: ChaosStage, dice: Dice): Promise<() => Promise<unknown>>
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

const ofTheNetwork = (processes: number): ChaosFault[] =>
  faults
    .filter(({ name, processesMin }) => OF_THE_NETWORK.includes(name) && processesMin <= processes)
    .map(({ name, seconds, plant }) => ({ name, seconds, kills: false, plant: ({ site }) => plant(site) }))

const nothing = async () => {}

/** Kills the process that sends a certain statement next: before the statement or its commit arrives, or before its response. */
const atStatement = (when: 'before' | 'behind', what: 'statement' | 'commit'): ChaosFault => ({
  name: `shop: killed ${when} a ${what}`,
  seconds: 0,
  kills: true,
  plant: async ({ site, diedAt }, dice) => {
    const victim = dice.of(site.processes)
    const { seenStatements: seen, lastStatements: last, onceAt, onceCommitted } = victim.statements
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
/** Statements that write purchases or payments. */
const isOfBuying = (name: string) =>
  /^(?:orders|payments|gift_cards|inventory|pricing|cart|shipping|idempotency|outbox)\./.test(name)
const isFailpoint = (name: string) =>
  isOfBuying(name) && !/\.(?:find|list|count|is|are|measure|read)_/.test(name)

const killed = (
  name: string,
  chosen: (stage: ChaosStage, dice: Dice) => ChaosStage['site']['processes']
): ChaosFault => ({
  name,
  seconds: 0.5,
  kills: true,
  plant: async (stage, dice) => {
    await Promise.all(chosen(stage, dice).map(each => each.kill()))
    return nothing
  }
})

/** Makes eight responses of the provider fail. */
const answers = (name: string, fault: string, ms = 0): ChaosFault => ({
  name: `provider: ${name}`,
  seconds: 2,
  kills: false,
  plant: async ({ sandbox }) => {
    await sandbox.insist('/test/answers', { fault, times: 8, ms })
    return () => sandbox.insist('/test/answers', {})
  }
})
const callbacks = (name: string, fault: object, mend: object): ChaosFault => ({
  name: `provider: ${name}`,
  seconds: 3,
  kills: false,
  plant: async ({ sandbox }) => {
    await sandbox.insist('/test/webhooks', fault)
    return () => sandbox.insist('/test/webhooks', mend)
  }
})

/** Sends the latest events again, which must change nothing. */
const again = (name: string, change: (event: SandboxObject) => SandboxObject): ChaosFault => ({
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
 * Returns the event with a new id and wrong amounts. The shop accepts the cancellation of a payment with any amount, so a
 * canceled payment keeps its event.
 */
function withAnotherAmount(event: SandboxObject): SandboxObject {
  const { object } = event.data as { object: SandboxObject }
  if (object.status === 'canceled') return event
  const lie = { ...object, amount: 99_999, amount_captured: 99_999 }
  return { ...event, id: `evt_${newId()}`, data: { object: lie } }
}

/** Expires the held reservation of an order before the order claims it. */
const expired: ChaosFault = {
  name: 'stock: held reservations expire immediately',
  seconds: 4,
  kills: false,
  plant: async ({ site }) => {
    const timer = setInterval(() => {
      site.sql(`update inventory.reservations set expires_at = now() where state = 'held'`).catch(() => {})
    }, 20)
    return async () => clearInterval(timer)
  }
}

/** Returns the faults for this number of processes. Faults that kill occur several times, so they are chosen more often. */
export const chaosFaultsFor = ({ site: { processes, postmaster } }: ChaosStage): readonly ChaosFault[] => [
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
