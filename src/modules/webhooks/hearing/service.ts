import type { Delivery, EventType } from '../../../kernel/events.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import * as repository from '../deliveries/repository.ts'
import { bodyOf, type DeliveryService } from '../deliveries/service.ts'

type Endpoint = { readonly id: string; readonly event_types: readonly string[] | null }
type Deps = {
  /** Those that are switched on. */
  endpoints: () => Promise<readonly Endpoint[]>
  wake: DeliveryService['wake']
}

/**
 * Whether any endpoint is to be told of such an event, from memory; while that is not known, one may be. An endpoint that another
 * process has just made is known within a second.
 */
export function createAudience(
  { subscribe, isLive }: Pick<Changes, 'subscribe' | 'isLive'>,
  endpoints: () => Promise<readonly Endpoint[]>
): (event: string) => boolean {
  let known: readonly Endpoint[] | undefined
  let isAsking = false
  let generation = 0
  subscribe(() => {
    generation += 1
    known = undefined
  })
  const learn = async () => {
    isAsking = true
    const before = generation
    const found = await endpoints().catch(() => undefined)
    isAsking = false
    if (before === generation) known = found
  }
  return event => {
    if (known === undefined || !isLive()) {
      if (!isAsking) learn()
      return true
    }
    return known.some(endpoint => wants(endpoint, event))
  }
}

const wants = ({ event_types }: Endpoint, event: string) =>
  event_types === null || event_types.includes(event)

/** Writes down what each endpoint is to be told of what happened, in the transaction that has heard of it. */
export const createHearing =
  ({ endpoints, wake }: Deps) =>
  ({ name, outside }: EventType) =>
  async (tx: Transaction, events: readonly Delivery<unknown>[]): Promise<void> => {
    const wanting = (await endpoints()).filter(endpoint => wants(endpoint, name))
    if (wanting.length === 0) return
    const told = events.map(({ id, subject, payload, since }) => ({
      ...{ event_id: id, event_type: name, subject },
      body: bodyOf(name, since, payload)
    }))
    const endpoint_ids = wanting.map(({ id }) => id)
    const event_ids = told.map(({ event_id }) => event_id)
    if (outside === 'latest')
      await tx.run(repository.supersede, {
        ...{ endpoint_ids, event_ids, event_type: name },
        subjects: told.map(({ subject }) => subject)
      })
    const rows = endpoint_ids.flatMap(endpoint_id =>
      event_ids.map(event_id => ({ id: newId(), endpoint_id, event_id }))
    )
    await tx.run(repository.insertDeliveries, { rows, told })
    wake(tx, endpoint_ids)
  }
