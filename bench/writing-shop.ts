/**
 * The shop without what handles events: it writes them when SUBSCRIBES=true, because then a module subscribes to them, and
 * none otherwise. What `bench/events.ts` compares.
 */
import { openGatewayForShopModules, setUpShopModules, standardModules } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import {
  authModule,
  cartMergedEvent,
  cartModule,
  catalogModule,
  defineModule,
  productChangedEvent
} from '../src/index.ts'
import { openLog } from '../src/platform/log.ts'
import { openPlatform } from '../src/platform/platform.ts'

const subscriberModule = defineModule({
  name: 'subscriber',
  description: 'Subscribes, and does nothing.',
  basePaths: [],
  requires: { auth: authModule, catalog: catalogModule, cart: cartModule },
  uses: {},
  subscribes: [productChangedEvent, cartMergedEvent],
  setup: async () => ({
    api: {},
    eventHandlers: { 'catalog.product_changed': async () => {}, 'cart.merged': async () => {} }
  })
})

const all = process.env.SUBSCRIBES === 'true' ? [...standardModules, subscriberModule] : standardModules
const config = loadConfig(all)
const platform = await openPlatform(config, process.env.DATABASE_URL ?? '', openLog(config.log), {
  serves: true
})
const { app } = await openGatewayForShopModules(await setUpShopModules(platform, all))
await app.listen({ port: config.server.port, backlog: 4_096 })
process.on('SIGTERM', () => process.exit())
