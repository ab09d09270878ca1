/**
 * The shop as its users run it, with a module that asks a service for shipping rates: what `bench/sieges.ts` besieges while
 * the service hangs.
 */
import {
  defineModule,
  type ProviderRate,
  provide,
  runCli,
  shippingModule,
  shippingRatesPort,
  standardModules
} from '../src/index.ts'

const url = process.env.BENCH_RATES_URL ?? ''

const ratesModule = defineModule({
  name: 'bench_rates',
  description: 'Asks a service for shipping rates.',
  basePaths: [],
  requires: { shipping: shippingModule },
  uses: {},
  provides: [shippingRatesPort],
  setup: async ({ http }) => {
    const listRates = async (parcel: object, signal: AbortSignal): Promise<ProviderRate[]> => {
      const body = JSON.stringify(parcel)
      const answer = await http.send({ url, method: 'POST', body, signal, isConfigured: true })
      return JSON.parse(answer.body.toString()) as ProviderRate[]
    }
    return { api: {}, provides: [provide(shippingRatesPort, 'bench', { listRates })] }
  }
})

await runCli([...standardModules, ratesModule])
