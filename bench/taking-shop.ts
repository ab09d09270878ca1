/**
 * The shop as its users run it, with a module that redeems a promotion on request. `bench/quote.ts` runs it beside readers
 * of carts. It redeems in the process that answers the readers, each use in a transaction of its own.
 */
import {
  defineModule,
  newId,
  pricingModule,
  runCli,
  standardModules,
  statement,
  Type,
  wire
} from '../src/index.ts'
import { RoundResponse, round, runRound } from './rounds.ts'

const STEPS = 8

const insertStep = statement({
  name: 'takers.insert_step',
  takes: { owner: 'uuid', step: 'int4' },
  text: 'insert into takers.steps (owner, step) values ($owner, $step)'
})

const TakeRequest = wire.request('BenchTakeRequest', {
  promotion_id: wire.Id,
  in_turn: Type.Boolean({ description: 'Otherwise they meet at the row.' }),
  ...round
})

const takersModule = defineModule({
  name: 'takers',
  description: 'Redeems a promotion for a while.',
  basePaths: ['/api/takers'],
  requires: { pricing: pricingModule },
  uses: {},
  setup: async ({ db }, _settings, { pricing }) => ({
    api: {},
    routes: tiers =>
      tiers.public.post(
        '/takers/rounds',
        {
          config: { class: 'bulk', noReplay: 'it measures' },
          schema: { summary: 'Redeem for a while', body: TakeRequest, response: { 200: RoundResponse } }
        },
        ({ body: { promotion_id: promotionId, in_turn, ...round } }) => {
          const redemptions = [in_turn ? { promotionId, limited: 'promotion' as const } : { promotionId }]
          const take = () =>
            pricing.serializedBy(db, redemptions).transaction(async tx => {
              const owner = newId()
              // An order asks and writes this often before it redeems.
              for (let step = 0; step < STEPS; step += 1) await tx.run(insertStep, { owner, step })
              await pricing.redeem(tx, owner, newId())
            })
          // Without turns a pool that many wait for refuses some of them, who come again.
          const takeSurely = (): Promise<void> =>
            take().catch(error => (error.code === 'DATABASE_BUSY' ? takeSurely() : Promise.reject(error)))
          return runRound(round, takeSurely)
        }
      )
  })
})

await runCli([...standardModules, takersModule])
