import { createReadStream } from 'node:fs'
import { type App, authModule, catalogModule } from '../app.ts'
import type { Config } from '../config.ts'
import { version } from '../version.ts'

const DEMO_FILE = new URL('../../demo/catalog.csv', import.meta.url)

export type Prepared = {
  /** Made just now, with the password that is told this once; `null` when there was one. */
  admin: { email: string; password: string } | null
  /** How many products the demo catalog brought; 0 when it was not loaded. */
  demoProducts: number
}

/** What an empty shop needs before its first request: somebody to administrate it, and something to sell. */
export async function prepareShop(app: App, config: Config, isEmbedded: boolean): Promise<Prepared> {
  const isTrial = isEmbedded && config.environment === 'development'
  const admin = isTrial ? ((await app.apiOf(authModule)?.createFirstAdmin()) ?? null) : null
  const catalog = app.apiOf(catalogModule)
  const wantsDemo = config.shop.demo === 'on' || (config.shop.demo === 'auto' && isTrial)
  if (!wantsDemo || catalog === undefined || !(await catalog.isEmpty())) return { admin, demoProducts: 0 }
  try {
    const report = await catalog.importCsv(createReadStream(DEMO_FILE), { mode: 'all_or_nothing' })
    return { admin, demoProducts: report.products.created }
  } catch (error) {
    // Another process, started at the same time, was faster.
    if (await catalog.isEmpty()) throw error
    return { admin, demoProducts: 0 }
  }
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
