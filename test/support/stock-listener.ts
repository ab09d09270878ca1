import { defineModule } from '../../src/module.ts'
import { inventoryModule, stockCrossedEvent, stockShortEvent } from '../../src/modules/inventory/index.ts'

type Heard = { name: string; payload: Record<string, unknown> }

/** A module that subscribes to stock events and collects them. */
export function stockListener() {
  const heard: Heard[] = []
  const note = (name: string) => async (_tx: unknown, events: readonly { payload: object }[]) => {
    for (const { payload } of events) heard.push({ name, payload: { ...payload } })
  }
  const module = defineModule({
    name: 'listener',
    description: 'Subscribes to stock events.',
    basePaths: [],
    requires: { inventory: inventoryModule },
    uses: {},
    subscribes: [stockCrossedEvent, stockShortEvent],
    setup: async () => ({
      api: {},
      eventHandlers: { 'inventory.crossed': note('crossed'), 'inventory.short': note('short') }
    })
  })
  /** Returns the statuses of an item's inventory.crossed events, in order. */
  const statusesOf = (itemId: string) =>
    heard
      .filter(({ name, payload }) => name === 'crossed' && payload.item_id === itemId)
      .map(({ payload }) => payload.status)
  return { module, heard, statusesOf }
}
