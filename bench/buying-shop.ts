/**
 * The shop as its users run it, with a module that buys when it is asked to: what `bench/stock.ts` puts beside readers of
 * carts. Reservations are made in the process that answers them.
 */
import { defineModule, inventoryModule, newId, runCli, standardModules, Type, wire } from '../src/index.ts'
import { RoundResponse, round, runRound } from './rounds.ts'

const HELD_SECONDS = 3_600

const BuyRequest = wire.request('BenchBuyRequest', { variant_ids: Type.Array(wire.Id), ...round })

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
          config: { class: 'bulk', noReplay: 'it measures' },
          schema: { summary: 'Buy for a while', body: BuyRequest, response: { 200: RoundResponse } }
        },
        ({ body }) =>
          runRound(body, number =>
            inventory.reserve(newId(), basketOf(number, body.variant_ids), HELD_SECONDS)
          )
      )
  })
})

/** 1 to 3 of the variants, in turn. */
function basketOf(number: number, variantIds: readonly string[]) {
  return Array.from({ length: 1 + (number % 3) }, (_, at) => ({
    variantId: variantIds[(number + at) % variantIds.length] as string,
    quantity: 1
  }))
}

await runCli([...standardModules, buyersModule])
