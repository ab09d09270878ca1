import { PICTURES_PATH } from './demo/catalog.ts'
import { readShopFront } from './demo/shop-front.ts'
import { createExamples, type Examples } from './examples.ts'
import type { PublicFiles } from './gateway/pages/public-files.ts'
import { createGateway, type Gateway, type GatewayModule } from './gateway/server.ts'
import { guideFiles, listGuides } from './guides.ts'
import type { Diagnosis } from './kernel/diagnosis.ts'
import { defineError } from './kernel/errors.ts'
import type { ApiOf, Module } from './module.ts'
import { adminModule } from './modules/admin/index.ts'
import { authModule } from './modules/auth/index.ts'
import { cartModule } from './modules/cart/index.ts'
import { catalogModule } from './modules/catalog/index.ts'
import { inventoryModule } from './modules/inventory/index.ts'
import { notificationsModule } from './modules/notifications/index.ts'
import { ordersModule } from './modules/orders/index.ts'
import { paymentsModule } from './modules/payments/index.ts'
import { pricingModule } from './modules/pricing/index.ts'
import { reviewsModule } from './modules/reviews/index.ts'
import { shippingModule } from './modules/shipping/index.ts'
import { webhooksModule } from './modules/webhooks/index.ts'
import type { Platform } from './platform/platform.ts'
import { apisOf, setupModules, stopModules } from './set-up.ts'
import { version } from './version.ts'

export { authModule, catalogModule, shippingModule }

/** Every module that comes along. The order does not matter: each is set up behind what it requires. */
export const modules = [
  authModule,
  pricingModule,
  inventoryModule,
  paymentsModule,
  catalogModule,
  shippingModule,
  cartModule,
  ordersModule,
  reviewsModule,
  notificationsModule,
  webhooksModule,
  adminModule
]

const authDisabled = defineError(
  'unavailable',
  'AUTH_DISABLED',
  'Nobody can be authenticated while the module auth is disabled (modules.auth.enabled).'
)

/** The enabled modules, set up. Commands need no more; a server puts a gateway in front of them. */
export type Shop = {
  platform: Platform
  /** Every module there is, and whether it is enabled. */
  modules: readonly GatewayModule[]
  /** The API of a module; `undefined` when it is disabled. */
  apiOf: ApiOf
  /** What `doctor` checks in the stored data. */
  diagnoses: readonly Diagnosis[]
  /** Stops the modules, not the platform. */
  stop(): Promise<void>
}
/** A shop with its gateway. It listens where the caller says. */
export type App = Gateway & Pick<Shop, 'apiOf' | 'stop'> & { examples: Examples }

/** Only a shop with the demo draws its pictures. */
const demoFiles: PublicFiles = {
  path: PICTURES_PATH,
  type: 'image/svg+xml',
  find: async name => (await import('./demo/pictures.ts')).pictureAt(name)
}

/** Sets the enabled modules up. @throws OperatorError when they do not fit together. */
export async function setupShop(platform: Platform, all: readonly Module[] = modules): Promise<Shop> {
  const loaded = await setupModules(all, platform)
  return {
    platform,
    modules: all.map(module => {
      const instance = loaded.find(each => each.module === module)?.instance
      const parts = Object.entries(module.switches ?? {}).map(([name, { basePaths }]) => ({
        name,
        basePaths,
        enabled: platform.config.modules[name]?.enabled === true
      }))
      return {
        ...module,
        enabled: instance !== undefined,
        routes: instance?.routes,
        refusal: instance?.refusal,
        parts
      }
    }),
    apiOf: apisOf(loaded),
    diagnoses: loaded.flatMap(({ instance }) => instance.diagnoses ?? []),
    stop: () => stopModules(loaded)
  }
}

/** Puts the gateway in front of a shop. */
export async function openGateway({ platform, modules, apiOf, stop }: Shop): Promise<App> {
  const examples = createExamples(apiOf)
  const gateway = await createGateway({
    platform,
    version,
    frontPage: { examples, guides: listGuides },
    shopFront: platform.config.environment === 'development' ? readShopFront : undefined,
    mails: apiOf(notificationsModule)?.mailbox,
    files: platform.config.shop.demo === 'off' ? guideFiles : [...guideFiles, demoFiles],
    authenticate: apiOf(authModule)?.authenticate ?? (() => Promise.reject(authDisabled())),
    revocations: apiOf(authModule)?.revocations,
    modules
  })
  return { ...gateway, apiOf, examples, stop }
}
