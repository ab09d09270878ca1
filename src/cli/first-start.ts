import { Readable } from 'node:stream'
import { type App, authModule, catalogModule, type Shop, shippingModule } from '../app.ts'
import type { Config } from '../config.ts'
import { readDemo } from '../demo/catalog.ts'
import { demoShipping } from '../demo/shipping.ts'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import type { ImportReport } from '../modules/catalog/index.ts'
import { version } from '../version.ts'

export type Prepared = {
  /** Made just now, with the password, which is shown this once; `null` when there was one. */
  admin: { email: string; password: string } | null
  /** How many products the demo catalog brought; 0 when it was not loaded. */
  demoProducts: number
}

/** What an empty shop needs before its first request: somebody to administrate it, and something to sell. */
export async function prepareShop(
  app: App,
  config: Config,
  { address, isEmbedded }: { address: string; isEmbedded: boolean }
): Promise<Prepared> {
  const isTrial = isEmbedded && config.environment === 'development'
  const wantsDemo = config.shop.demo === 'on' || (config.shop.demo === 'auto' && isTrial)
  const demoProducts = wantsDemo
    ? await loadDemo(app, config.shop.currency, picturesAddress(config, address))
    : 0
  const admin = isTrial ? ((await app.apiOf(authModule)?.createFirstAdmin()) ?? null) : null
  return { admin, demoProducts }
}

/** A shop whose currency was changed would open with nothing for sale. */
export async function checkCurrency({ apiOf }: Shop, currency: string): Promise<void> {
  const other = await apiOf(catalogModule)?.findOtherCurrency()
  if (other === undefined) return
  throw new OperatorError(
    `The catalog has prices in ${other} and none in ${currency}, so nothing could be sold: set shop.currency to ${other} again, or first import prices in ${currency} (cartwright import <file>).`
  )
}

/** How browsers reach the pictures. An address that stands for all of a machine is nowhere to go. */
export const picturesAddress = ({ server }: Config, address: string): string =>
  server.public_url.startsWith('http')
    ? server.public_url.replace(/\/+$/, '')
    : address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

/** How many products the demo catalog brought; an empty catalog only takes it. */
export async function loadDemo(
  { apiOf }: Pick<App, 'apiOf'>,
  currency: string,
  address: string
): Promise<number> {
  const catalog = apiOf(catalogModule)
  if (catalog === undefined || !(await catalog.isEmpty())) return 0
  try {
    // Before the products: a shop that has those is never filled again.
    await apiOf(shippingModule)?.createFirst(demoShipping(currency))
    const file = Readable.from([await readDemo(currency, address)])
    return (await catalog.importCsv(file, { mode: 'all_or_nothing' })).products.created
  } catch (cause) {
    // Another process, started at the same time, was faster.
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

/** What the person at the terminal wants to know now: where, who, and three requests to paste. */
export async function welcome(
  app: App,
  { admin, demoProducts }: Prepared,
  config: Config,
  address: string
): Promise<string> {
  if (config.log.level === 'silent') return ''
  const isDevelopment = config.environment === 'development'
  // Its commands make an account, which does not belong in a shop that customers use.
  const examples = isDevelopment ? await app.examples(address, admin ?? undefined) : []
  const lines = [
    `Cartwright ${version} listens on ${address} (API: ${address}/docs)`,
    isDevelopment && `Buy something: ${address}/shop`,
    demoProducts > 0 && `Loaded the demo catalog: ${demoProducts} products.`,
    // The password is not shown again.
    admin && `\nAdministrator  ${admin.email}\nPassword       ${admin.password}   (shown this once)\n`,
    isDevelopment && 'Try it:',
    ...examples.map(line => `  ${line}`)
  ]
  return `${lines.filter(Boolean).join('\n')}\n\n`
}
