import { setTimeout as delay } from 'node:timers/promises'
import { faults } from '../faults/network/faults.ts'
import type { Dice } from './dice.ts'
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

/** The process that sends a certain statement next dies: before it arrives, or when it has, and no answer has come. */
const atStatement = (when: 'before' | 'behind'): Harm => ({
  name: `shop: killed ${when} a statement`,
  seconds: 0,
  kills: true,
  plant: async ({ site, diedAt }, dice) => {
    const victim = dice.of(site.processes)
    const places = [...victim.statements.seen].filter(isFailpoint).sort()
    const fresh = places.filter(name => !diedAt.has(`${name} ${when}`))
    if (places.length === 0) return nothing
    const place = dice.of(fresh.length > 0 ? fresh : places)
    const died = Promise.withResolvers<void>()
    let isGone = Promise.resolve()
    victim.statements.onceAt(place, () => {
      diedAt.add(`${place} ${when}`)
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
/** Whatever is sent at all by buyers and those who pay is sent within this time; what is not was sent when the shop began. */
const SENT_MS_MAX = 4_000
/** Where whatever is bought or paid is written. */
const isFailpoint = (name: string) =>
  /^(?:orders|payments|inventory|pricing|cart|shipping|idempotency|outbox)\./.test(name) &&
  !/\.(?:find|list|count|is|are|measure|read)_/.test(name)

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
export const harmsOf = (processes: number): readonly Harm[] => [
  ...ofTheNetwork(processes),
  ...Array.from({ length: 4 }, () => [atStatement('before'), atStatement('behind')]).flat(),
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
