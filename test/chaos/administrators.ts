import { setTimeout as delay } from 'node:timers/promises'
import {
  OPERATION_KINDS,
  type Operation,
  type OperationKind,
  type OperationPlan,
  performOperation,
  repeatHangingUp,
  tallyOf
} from './operations.ts'
import { type Administrator, planOperation } from './plans.ts'
import type { ChaosClient } from './run-record.ts'

const PAUSE_MS = 30
const ANY_SHARE = 0.1
/** Failed tries that count as one success, so that a kind that cannot succeed now does not block the others. */
const TRIES_OF_ONE = 10
const TWICE_SHARE = 0.3
const REPEATED_SHARE = 0.35
/** Kinds that are not sent twice with two keys, because the second one would be rejected or would change the result. */
const ALONE: readonly OperationKind[] = ['void shipment', 'count stock', 'cancel', 'void payment']
/** How much rarer these kinds are, because they leave an order with fewer possible operations. */
const RARITY: Partial<Record<OperationKind, number>> = {
  cancel: 4,
  'void payment': 3,
  'cancel lines': 1.5,
  ship: 0.3
}

/** Sends keyed operations of an administrator until the run stops. */
export async function actAsAdministrator(client: Administrator): Promise<void> {
  const { record, dice } = client
  while (!record.stopping) {
    await delay(PAUSE_MS)
    const plan = await nextPlan(client)
    if (plan === undefined) continue
    const { kind } = plan
    const isTwice = dice.chance(TWICE_SHARE)
    const hasTwoKeys = isTwice && !ALONE.includes(kind) && dice.chance(0.5)
    const performed: Operation[] = hasTwoKeys
      ? await Promise.all([performOperation(client, plan), performOperation(client, plan)])
      : [await performOperation(client, plan, isTwice ? 2 : 1)]
    for (const operation of performed)
      if (operation.state === 'acknowledged' && dice.chance(REPEATED_SHARE))
        await repeatHangingUp(client, operation)
    // A further operation would depend on an unknown outcome.
    if (performed.some(({ state }) => state === 'unanswered')) return
  }
}

/** Returns an operation of the kind with the fewest successes that is possible now. */
async function nextPlan(client: Administrator): Promise<OperationPlan | undefined> {
  for (const kind of rarestFirst(client)) {
    const plan = await planOperation(kind, client)
    if (plan !== undefined) return plan
  }
  return undefined
}

function rarestFirst({ record, dice }: ChaosClient): OperationKind[] {
  const tally = tallyOf(record)
  const weight = (kind: OperationKind) => {
    const { tried = 0, acknowledged = 0 } = tally.get(kind) ?? {}
    return (acknowledged + tried / TRIES_OF_ONE) * (RARITY[kind] ?? 1)
  }
  // Chance decides among those that are equally far behind.
  const shuffled = dice.shuffled(OPERATION_KINDS)
  if (dice.chance(ANY_SHARE)) return shuffled.filter(kind => (RARITY[kind] ?? 1) <= 1)
  return shuffled.sort((one, other) => weight(one) - weight(other))
}
