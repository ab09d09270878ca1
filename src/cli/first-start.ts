import { Readable } from 'node:stream'
import { type App, authModule, cartModule, catalogModule } from '../app.ts'
import type { Config } from '../config.ts'
import { DomainError, OperatorError } from '../kernel/errors.ts'
import type { ImportReport } from '../modules/catalog/index.ts'
import { version } from '../version.ts'
import { readDemo } from './demo.ts'

export type Prepared = {
  /** Made just now, with the password that is told this once; `null` when there was one. */
  admin: { email: string; password: string } | null
  /** How many products the demo catalog brought; 0 when it was not loaded. */
  demoProducts: number
}

/** What an empty shop needs before its first request: somebody to administrate it, and something to sell. */
export async function prepareShop(app: App, config: Config, isEmbedded: boolean): Promise<Prepared> {
  await checkCurrency(app, config.shop.currency)
  const isTrial = isEmbedded && config.environment === 'development'
  const wantsDemo = config.shop.demo === 'on' || (config.shop.demo === 'auto' && isTrial)
  const demoProducts = wantsDemo ? await loadDemo(app, config.shop.currency) : 0
  const admin = isTrial ? ((await app.apiOf(authModule)?.createFirstAdmin()) ?? null) : null
  return { admin, demoProducts }
}

/** A shop whose currency was changed would open with nothing for sale. */
async function checkCurrency(app: App, currency: string): Promise<void> {
  const other = await app.apiOf(catalogModule)?.findOtherCurrency()
  if (other === undefined) return
  throw new OperatorError(
    `The catalog has prices in ${other} and none in ${currency}, so nothing could be sold: set shop.currency to ${other} again, or first import prices in ${currency} (cartwright import <file>).`
  )
}

/** How many products the demo catalog brought; an empty catalog only takes it. */
async function loadDemo(app: App, currency: string): Promise<number> {
  const catalog = app.apiOf(catalogModule)
  if (catalog === undefined || !(await catalog.isEmpty())) return 0
  try {
    const file = Readable.from([await readDemo(currency)])
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

/** The account that was made just now. Nobody will be told its password again. */
export const credentials = ({ admin }: Prepared): string =>
  admin === null
    ? ''
    : `Administrator  ${admin.email}\nPassword       ${admin.password}   (shown this once)\n`

/** What the person at the terminal wants to know now: where, who, and three requests to paste. */
export async function welcome(
  app: App,
  prepared: Prepared,
  config: Config,
  address: string
): Promise<string> {
  if (config.log.level === 'silent') return ''
  const { admin, demoProducts } = prepared
  const json = "-H 'content-type: application/json' -d"
  // The shop is open: an example that cannot be found now is no reason to close it.
  const offers = config.environment === 'development' ? app.apiOf(catalogModule)?.someOffers(1) : undefined
  const [offer] = (await offers?.catch(() => [])) ?? []
  const account = admin ?? { email: 'you@example.com', password: 'an uncommon sentence' }
  const examples = [
    app.apiOf(catalogModule) && `curl '${address}/api/products?limit=3'`,
    offer &&
      app.apiOf(cartModule) &&
      `curl -X POST ${address}/api/guest-cart ${json} '{"variant_id":"${offer.variantId}","quantity":2}'`,
    app.apiOf(authModule) &&
      `curl -X POST ${address}/api/auth/${admin ? 'login' : 'register'} ${json} '${JSON.stringify(account)}'`
  ]
  const lines = [
    `Cartwright ${version} listens on ${address} (API: ${address}/docs)`,
    demoProducts > 0 && `Loaded the demo catalog: ${demoProducts} products.`,
    admin && `\n${credentials(prepared)}`,
    'Try it:',
    ...examples.filter(Boolean).map(line => `  ${line}`)
  ]
  return `${lines.filter(Boolean).join('\n')}\n\n`
}
