/**
 * The shop as its users run it, with a module that buys when it is asked to: what `bench/stock.ts` puts beside readers of
 * carts. Reservations are made in the process that answers them.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  defineModule,
  type InventoryApi,
  inventoryModule,
  newId,
  runCli,
  type Static,
  standardModules,
  Type,
  wire
} from '../src/index.ts'

const BUYERS = 64
const HELD_SECONDS = 3_600

const RoundRequest = wire.request('BuyersRoundRequest', {
  variant_ids: Type.Array(wire.Id),
  seconds: Type.Integer({ minimum: 1, maximum: 8 }),
  per_second: Type.Integer({ minimum: 0, description: '0: as many as 64 buyers can.' })
})
const RoundResponse = wire.response('BuyersRoundResponse', { per_second: Type.Number() })
type RoundRequest = Static<typeof RoundRequest>

const buyersModule = defineModule({
  name: 'buyers',
  description: 'Buys for a while.',
  basePaths: ['/api/buyers'],
  requires: { inventory: inventoryModule },
  uses: {},
  setup: async (_platform, _settings, { inventory }) => ({
    api: {},
    routes: tiers =>
      tiers.public.post(
        '/buyers/rounds',
        {
          config: { class: 'bulk', unwritten: 'it measures' },
          schema: { summary: 'Buy for a while', body: RoundRequest, response: { 200: RoundResponse } }
        },
        request => buy(inventory, request.body)
      )
  })
})

/** Answers how many baskets a second were reserved. */
async function buy(inventory: InventoryApi, { variant_ids, seconds, per_second }: RoundRequest) {
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1_000
  let begun = 0
  const buyOne = () => {
    begun += 1
    return inventory.reserve(newId(), basketOf(begun, variant_ids), HELD_SECONDS)
  }
  if (per_second === 0) {
    const buyer = async () => {
      while (elapsed() < seconds) await buyOne()
    }
    await Promise.all(Array.from({ length: BUYERS }, buyer))
  } else {
    // Whoever is due comes, whether or not those before are served.
    const buying: Promise<void>[] = []
    for (; elapsed() < seconds; await delay(1)) while (begun < elapsed() * per_second) buying.push(buyOne())
    await Promise.all(buying)
  }
  return { per_second: begun / elapsed() }
}

/** 1 to 3 of the variants, in turn. */
function basketOf(number: number, variantIds: readonly string[]) {
  return Array.from({ length: 1 + (number % 3) }, (_, at) => ({
    variantId: variantIds[(number + at) % variantIds.length] as string,
    quantity: 1
  }))
}

await runCli([...standardModules, buyersModule])
