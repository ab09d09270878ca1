import { DEMO_PICTURES_PATH } from './demo/catalog.ts'
import { readShopFrontFile } from './demo/shop-front.ts'
import { createCurlExampleWriter, type WriteCurlExamples } from './examples.ts'
import type { PublicFiles } from './gateway/pages/public-files.ts'
import { createGateway, type Gateway, type GatewayModule } from './gateway/server.ts'
import { guideFiles, listGuides } from './guides.ts'
import { type DiagnosisCheck, okDiagnosisFinding } from './kernel/diagnosis.ts'
import { defineError } from './kernel/errors.ts'
import type { ReadResourceFields } from './kernel/resources.ts'
import type { GetModuleApi, Module } from './module.ts'
import { createFieldRegistry } from './module-fields.ts'
import { diagnosePorts } from './module-ports.ts'
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
import type { Transaction } from './platform/postgres/database.ts'
import { assertModulesCanStart, createModuleApiLookup, setUpModules, stopModules } from './set-up.ts'
import { version } from './version.ts'

export { authModule, catalogModule, shippingModule }

/**
 * All built-in modules. Their order does not matter, because each is set up after the modules that it requires.
 * @example
 * assert.ok(standardModules.some(({ name }) => name === 'orders'))
 */
export const standardModules = [
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

const authDisabledError = defineError(
  'unavailable',
  'AUTH_DISABLED',
  'Requests cannot be authenticated while the module auth is disabled (modules.auth.enabled).'
)

/** The enabled modules after their set-up. Most commands need only these; a server puts a gateway in front of them. */
export type ShopModules = {
  platform: Platform
  /** Every module of the list, and whether it is enabled. */
  modules: readonly GatewayModule[]
  /** The API of a module; `undefined` when it is disabled. */
  apiOf: GetModuleApi
  /** The fields that modules add to resources of others. */
  fieldsOf: ReadResourceFields<Transaction>
  /** Checks of the stored data, which `doctor` runs. */
  diagnoses: readonly DiagnosisCheck[]
  /** A server calls it before it listens; commands do not. @throws OperatorError with what must be repaired first. */
  assertCanStart(): Promise<void>
  /** Stops the modules. The platform stays open. */
  stop(): Promise<void>
}
/** A shop with its gateway. It does not listen until the caller starts it. */
export type ShopWithGateway = Gateway & Pick<ShopModules, 'apiOf' | 'stop'> & { examples: WriteCurlExamples }

/** Pictures of the products of the demo catalog, drawn on request. */
const demoFiles: PublicFiles = {
  path: DEMO_PICTURES_PATH,
  type: 'image/svg+xml',
  find: async name => (await import('./demo/pictures.ts')).drawDemoPicture(name)
}

/** Sets up the enabled modules. @throws OperatorError when they do not fit together. */
export async function setUpShopModules(
  platform: Platform,
  all: readonly Module[] = standardModules
): Promise<ShopModules> {
  const fields = createFieldRegistry(all, platform)
  const loaded = await setUpModules(all, platform, fields)
  const assertCanStart = () => assertModulesCanStart(loaded)
  return {
    platform,
    fieldsOf: fields.fieldsOf,
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
        guard: instance?.guard,
        parts
      }
    }),
    apiOf: createModuleApiLookup(loaded),
    diagnoses: [
      ...diagnosePorts(loaded),
      ...platform.eventLog.diagnoses,
      ...platform.partitions.diagnoses,
      { about: 'start', find: () => assertCanStart().then(() => okDiagnosisFinding('nothing prevents it')) },
      ...loaded.flatMap(({ instance }) => instance.diagnoses ?? [])
    ],
    assertCanStart,
    stop: () => stopModules(loaded)
  }
}

/** Puts the gateway in front of a shop. */
export async function openGatewayForShopModules({
  platform,
  modules,
  apiOf,
  fieldsOf,
  stop
}: ShopModules): Promise<ShopWithGateway> {
  const examples = createCurlExampleWriter(apiOf)
  const gateway = await createGateway({
    platform,
    version,
    frontPage: { examples, guides: listGuides },
    shopFront: platform.config.environment === 'development' ? readShopFrontFile : undefined,
    mails: apiOf(notificationsModule)?.devMailbox,
    files: platform.config.shop.demo === 'off' ? guideFiles : [...guideFiles, demoFiles],
    authenticate: apiOf(authModule)?.authenticate ?? (() => Promise.reject(authDisabledError())),
    revocations: apiOf(authModule)?.revocations,
    modules,
    fieldsOf
  })
  return { ...gateway, apiOf, examples, stop }
}
