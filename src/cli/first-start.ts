import { Readable } from 'node:stream'
import { authModule, catalogModule, type ShopModules, type ShopWithGateway, shippingModule } from '../app.ts'
import { readDemoCatalog } from '../demo/catalog.ts'
import { demoShippingSetup } from '../demo/shipping.ts'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import type { ImportReport } from '../modules/catalog/index.ts'
import type { Config } from '../platform/core-settings.ts'
import { version } from '../version.ts'

export type FirstStartResult = {
  /** The administrator that the first start created. The password is shown only now. `null` when it created none. */
  admin: { email: string; password: string } | null
  /** Number of products that the demo catalog added; 0 when it was not loaded. */
  demoProducts: number
}

/** Loads the demo catalog as `shop.demo` says. In development with the embedded database, also creates the first administrator. */
export async function createDemoAndFirstAdministrator(
  app: ShopWithGateway,
  config: Config,
  { address, isEmbedded }: { address: string; isEmbedded: boolean }
): Promise<FirstStartResult> {
  const isTrial = isEmbedded && config.environment === 'development'
  const wantsDemo = config.shop.demo === 'on' || (config.shop.demo === 'auto' && isTrial)
  const demoProducts = wantsDemo
    ? await loadDemoCatalogIntoEmptyShop(app, config.shop.currency, demoPicturesBaseUrl(config, address))
    : 0
  const admin = isTrial ? ((await app.apiOf(authModule)?.createFirstAdmin()) ?? null) : null
  return { admin, demoProducts }
}

/** @throws OperatorError when the catalog has prices in another currency only, because then nothing can be sold. */
export async function checkCatalogCurrency({ apiOf }: ShopModules, currency: string): Promise<void> {
  const other = await apiOf(catalogModule)?.findOtherCurrency()
  if (other === undefined) return
  throw new OperatorError(
    `The catalog has prices in ${other} and none in ${currency}, so nothing could be sold: set shop.currency to ${other} again, or first import prices in ${currency} (cartwright import <file>).`
  )
}

/** The base URL of the demo pictures. Wildcard addresses become loopback, because browsers cannot open `0.0.0.0`. */
export const demoPicturesBaseUrl = ({ server }: Config, address: string): string =>
  server.public_url.startsWith('http')
    ? server.public_url.replace(/\/+$/, '')
    : address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

/** Loads the demo catalog if the catalog is empty. Returns the number of products created. */
export async function loadDemoCatalogIntoEmptyShop(
  { apiOf }: Pick<ShopWithGateway, 'apiOf'>,
  currency: string,
  address: string
): Promise<number> {
  const catalog = apiOf(catalogModule)
  if (catalog === undefined || !(await catalog.isEmpty())) return 0
  try {
    // Before the products, because a shop with products is never filled again.
    await apiOf(shippingModule)?.createInitialRules(demoShippingSetup(currency))
    const file = Readable.from([await readDemoCatalog(currency, address)])
    return (await catalog.importCsv(file, { mode: 'all_or_nothing' })).products.created
  } catch (cause) {
    // Another process that started at the same time has loaded the demo catalog.
    if (!(await catalog.isEmpty().catch(() => true))) return 0
    throw new OperatorError(
      `The demo catalog cannot be loaded: ${reasonOf(cause)} Start without it: CARTWRIGHT__SHOP__DEMO=off (shop.demo).`,
      { cause }
    )
  }
}

function reasonOf(error: unknown): string {
  const report = error instanceof DomainError ? (error.details.report as ImportReport | undefined) : undefined
  const [first] = report?.errors ?? []
  if (first !== undefined) return `row ${first.row}: ${first.message}`
  return `${(error as Error).message.replace(/\.$/, '')}.`
}

/** Returns the greeting for the terminal: the address, a new administrator, and example requests. */
export async function formatWelcome(
  app: ShopWithGateway,
  { admin, demoProducts }: FirstStartResult,
  config: Config,
  address: string,
  workers = 1
): Promise<string> {
  if (config.log.level === 'silent') return ''
  // Examples create accounts and carts.
  const hasExamples = config.environment === 'development' && !config.database.read_only
  const examples = hasExamples ? await app.examples(address, admin ?? undefined) : []
  const lines = [
    `Cartwright ${version} listens on ${address}${workers > 1 ? ` with ${workers} workers` : ''} (API: ${address}/docs)`,
    hasExamples && `Buy something: ${address}/shop`,
    demoProducts > 0 && `Loaded the demo catalog: ${demoProducts} products.`,
    admin && `\nAdministrator  ${admin.email}\nPassword       ${admin.password}   (shown this once)\n`,
    hasExamples && 'Try it:',
    ...examples.map(line => `  ${line}`)
  ]
  return `${lines.filter(Boolean).join('\n')}\n\n`
}
