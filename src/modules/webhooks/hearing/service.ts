import type { Delivery, EventType } from '../../../kernel/events.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import * as repository from '../deliveries/repository.ts'
import { bodyOf, type DeliveryService } from '../deliveries/service.ts'

type Endpoint = { readonly id: string; readonly event_types: readonly string[] | null }
type Deps = {
  /** Those that are switched on. */
  endpoints: () => Promise<readonly Endpoint[]>
  wake: DeliveryService['wake']
}

/** Writes down what each endpoint is to be told of what happened, in the transaction that has heard of it. */
export const createHearing =
  ({ endpoints, wake }: Deps) =>
  ({ name, outside }: EventType) =>
  async (tx: Transaction, events: readonly Delivery<unknown>[]): Promise<void> => {
    const wanting = (await endpoints()).filter(
      ({ event_types }) => event_types === null || event_types.includes(name)
    )
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
