import { defineModule } from '../../src/module.ts'
import { inventoryModule, stockCrossed, stockShort } from '../../src/modules/inventory/index.ts'

type Heard = { name: string; payload: Record<string, unknown> }

/** A module that hears of what happens to stock, and what it has heard. */
export function stockListener() {
  const heard: Heard[] = []
  const note = (name: string) => async (_tx: unknown, events: readonly { payload: object }[]) => {
    for (const { payload } of events) heard.push({ name, payload: { ...payload } })
  }
  const module = defineModule({
    name: 'listener',
    description: 'Hears of stock.',
    basePaths: [],
    requires: { inventory: inventoryModule },
    uses: {},
    hears: [stockCrossed, stockShort],
    setup: async () => ({
      api: {},
      consumers: { 'inventory.crossed': note('crossed'), 'inventory.short': note('short') }
    })
  })
  /** What crossed an item came to, one after the other. */
  const statusesOf = (itemId: string) =>
    heard
      .filter(({ name, payload }) => name === 'crossed' && payload.item_id === itemId)
      .map(({ payload }) => payload.status)
  return { module, heard, statusesOf }
}
