import { setTimeout as delay } from 'node:timers/promises'
import type { Person } from './book.ts'
import {
  KINDS,
  type Kind,
  type Operation,
  type Plan,
  perform,
  repeatHangingUp,
  tallyOf
} from './operations.ts'
import { type Administrator, planOf } from './plans.ts'

const PAUSE_MS = 30
const ANY_SHARE = 0.1
/** So many tries in vain count as one that succeeded: what cannot be done now must not keep all else from being done. */
const TRIES_OF_ONE = 10
const TWICE_SHARE = 0.3
const REPEATED_SHARE = 0.35
/** Of these several exclude each other, or have to come one after the other. */
const ALONE: readonly Kind[] = ['void shipment', 'count stock', 'cancel', 'void payment']
/** How much rarer these are than others: each takes an order away from all that could still be done to it. */
const RARITY: Partial<Record<Kind, number>> = { cancel: 4, 'void payment': 3, 'cancel lines': 1.5, ship: 0.3 }

/** Ships, cancels, takes back and gives money back, and corrects stock, under keys, until the run stops. */
export async function administer(person: Administrator): Promise<void> {
  const { book, dice } = person
  while (!book.stopping) {
    await delay(PAUSE_MS)
    const plan = await nextPlan(person)
    if (plan === undefined) continue
    const { kind } = plan
    const isTwice = dice.chance(TWICE_SHARE)
    const hasTwoKeys = isTwice && !ALONE.includes(kind) && dice.chance(0.5)
    const performed: Operation[] = hasTwoKeys
      ? await Promise.all([perform(person, plan), perform(person, plan)])
      : [await perform(person, plan, isTwice ? 2 : 1)]
    for (const operation of performed)
      if (operation.state === 'acknowledged' && dice.chance(REPEATED_SHARE))
        await repeatHangingUp(person, operation)
    // What comes next would rest on an outcome that is not known.
    if (performed.some(({ state }) => state === 'unanswered')) return
  }
}

/** An operation of the kind that is farthest behind the others, among those for which there is something to do. */
async function nextPlan(person: Administrator): Promise<Plan | undefined> {
  for (const kind of rarestFirst(person)) {
    const plan = await planOf(kind, person)
    if (plan !== undefined) return plan
  }
  return undefined
}

function rarestFirst({ book, dice }: Person): Kind[] {
  const tally = tallyOf(book)
  const weight = (kind: Kind) => {
    const { tried = 0, acknowledged = 0 } = tally.get(kind) ?? {}
    return (acknowledged + tried / TRIES_OF_ONE) * (RARITY[kind] ?? 1)
  }
  // Chance decides among those that are equally far behind.
  const shuffled = dice.shuffled(KINDS)
  if (dice.chance(ANY_SHARE)) return shuffled.filter(kind => (RARITY[kind] ?? 1) <= 1)
  return shuffled.sort((one, other) => weight(one) - weight(other))
}
