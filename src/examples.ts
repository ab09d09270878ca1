import type { GetModuleApi } from './module.ts'
import { authModule } from './modules/auth/index.ts'
import { cartModule } from './modules/cart/index.ts'
import { catalogModule, type Offer } from './modules/catalog/index.ts'

const JSON_BODY = "-H 'content-type: application/json' -d"
/** Milliseconds an offer is cached, because every view of the page at `/` shows examples. */
const OFFER_KEPT_MS = 60_000
const VISITOR = { email: 'you@example.com', password: 'an uncommon sentence' }

type Account = { email: string; password: string }
export type WriteCurlExamples = (address: string, account?: Account) => Promise<string[]>

/** Creates the function that returns curl commands for a shop at this address, one for each of three enabled modules. */
export function createCurlExampleWriter(apiOf: GetModuleApi): WriteCurlExamples {
  const catalog = apiOf(catalogModule)
  let [asked, offer] = [Number.NEGATIVE_INFINITY, Promise.resolve<Offer | undefined>(undefined)]
  const someOffer = () => {
    if (performance.now() - asked > OFFER_KEPT_MS && catalog !== undefined) {
      asked = performance.now()
      // The example is left out when the query fails, because the page must still be shown.
      offer = catalog.someOffers(1).then(
        ([first]) => first,
        () => undefined
      )
    }
    return offer
  }
  return async (address, account) => {
    const found = apiOf(cartModule) && (await someOffer())
    return [
      catalog && `curl '${address}/api/products?limit=3'`,
      found &&
        `curl -X POST ${address}/api/guest-cart ${JSON_BODY} '{"variant_id":"${found.variantId}","quantity":2}'`,
      apiOf(authModule) &&
        `curl -X POST ${address}/api/auth/${account ? 'login' : 'register'} ${JSON_BODY} '${JSON.stringify(account ?? VISITOR)}'`
    ].filter(line => line !== undefined)
  }
}
