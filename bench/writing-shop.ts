/**
 * The shop without what handles events: it writes them when HEARS=true, because then a module hears them, and none
 * otherwise. What `bench/events.ts` compares.
 */
import { modules, openGateway, setupShop } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import {
  authModule,
  cartMerged,
  cartModule,
  catalogModule,
  defineModule,
  productChanged
} from '../src/index.ts'
import { openLog } from '../src/platform/log.ts'
import { openPlatform } from '../src/platform/platform.ts'

const hearersModule = defineModule({
  name: 'hearers',
  description: 'Hears, and does nothing about it.',
  basePaths: [],
  requires: { auth: authModule, catalog: catalogModule, cart: cartModule },
  uses: {},
  hears: [productChanged, cartMerged],
  setup: async () => ({
    api: {},
    consumers: { 'catalog.product_changed': async () => {}, 'cart.merged': async () => {} }
  })
})

const all = process.env.HEARS === 'true' ? [...modules, hearersModule] : modules
const config = loadConfig(all)
const platform = await openPlatform(config, process.env.DATABASE_URL ?? '', openLog(config.log), {
  serves: true
})
const { app } = await openGateway(await setupShop(platform, all))
await app.listen({ port: config.server.port, backlog: 4_096 })
process.on('SIGTERM', () => process.exit())
