import type { WaitingRequest } from '../../../platform/idempotency/write.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market, PricingApi } from '../../pricing/index.ts'
import type { ShippingApi, ShippingOption, ShippingParcel } from '../../shipping/index.ts'
import type { BuyerLimitKeys } from '../buyers/service.ts'
import { type CheckoutInput, shippingOrBillingAddressOf } from './input.ts'
import type { CheckoutLineNotForSale } from './lines.ts'
import {
  type CheckoutMarketProblem,
  type CheckoutPricingContext,
  calculateCheckoutPrice,
  type PricedCheckout,
  parcelOfCheckout
} from './price.ts'

type PricerDeps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  catalog: Pick<CatalogApi, 'quote' | 'names'>
  pricing: Pick<PricingApi, 'markets' | 'readRules' | 'quote' | 'quoteByTaxEngine'>
  /** Absent in a shop without inventory: then stock is not checked. */
  inventory: Pick<InventoryApi, 'available'> | undefined
  /** Maximum quantity of a line, for all variants. */
  lineQuantityMax: number
  /** Absent in a shop without shipping: then delivery has no price. */
  shipping: Pick<ShippingApi, 'loadRateCalculator' | 'listRegions' | 'providerOptionFetcher'> | undefined
}

/** Creates the function that reads from other modules what a price depends on, and calculates the price. */
export function createCheckoutPricer(deps: PricerDeps) {
  const { auth, catalog, pricing, inventory, shipping, lineQuantityMax } = deps

  /**
   * Calculates the current price. `customerId`: null is a guest. `isStockChecked`: findings contain lines
   * that are short of stock. `buyer`: whose earlier orders promotions depend on. The default is the account
   * alone, because a typed email address must not reveal what its owner has bought. `isTrusted`: the caller
   * is an administrator, who may see earlier orders. `request` waits for shipping providers and a tax engine, so
   * call it outside of a transaction. @throws `PRICING_QUOTE_TOO_LARGE`, `PROVIDER_REQUESTS_LIMITED`
   */
  return async (
    db: Queryable,
    customerId: string | null,
    input: CheckoutInput,
    {
      isStockChecked = true,
      buyer = { customer: customerId, mailbox: null },
      isTrusted = false,
      request
    }: {
      isStockChecked?: boolean
      buyer?: Pick<BuyerLimitKeys, 'customer' | 'mailbox'>
      isTrusted?: boolean
      request: WaitingRequest
    }
  ): Promise<PricedCheckout> => {
    const { lines, codes } = input
    const { market, marketProblem } = await marketOf(input)
    const [variants, stock, ratesOf, regions, rules] = await Promise.all([
      catalog.quote(db, lines, market),
      isStockChecked ? inventory?.available(lines.map(({ variantId }) => variantId)) : undefined,
      shipping?.loadRateCalculator(),
      shipping?.listRegions(),
      pricing.readRules({
        codes,
        customer: buyer.customer,
        mailbox: buyer.mailbox,
        isProven: async () => isTrusted || isVerified(customerId)
      })
    ])
    const given = {
      market,
      marketProblem,
      variants,
      stock,
      lineQuantityMax,
      ratesOf,
      regions,
      rules,
      now: Date.now()
    }
    const fetchOptions = shipping?.providerOptionFetcher()
    const complete =
      fetchOptions === undefined
        ? given
        : await withProviderOptions(input, given, parcel => fetchOptions(parcel, request))
    const priced = calculateCheckoutPrice(input, complete, pricing.quote)
    const quoteByTaxEngine = pricing.quoteByTaxEngine()
    const taxed = await quoteByTaxEngine?.(priced.quote, priced.quoteInput, request)
    return { ...priced, ...taxed, unsold: await withNames(priced.unsold) }
  }

  /** Fetches the options of shipping providers for the parcel of the checkout, before the price is calculated. */
  async function withProviderOptions(
    input: CheckoutInput,
    context: CheckoutPricingContext,
    fetchOptions: (parcel: ShippingParcel) => Promise<readonly ShippingOption[]>
  ): Promise<CheckoutPricingContext> {
    const { ratesOf } = context
    const parcel = ratesOf && parcelOfCheckout(input, context, pricing.quote)
    if (parcel === undefined) return context
    const options = await fetchOptions(parcel)
    return { ...context, ratesOf: each => ratesOf?.(each, options) ?? [] }
  }

  /** Whether the buyer is signed in and has verified the email address of the account. */
  async function isVerified(customerId: string | null): Promise<boolean> {
    if (customerId === null || auth === undefined) return false
    const [contact] = await auth.contacts([customerId])
    return contact?.emailVerified ?? false
  }

  /**
   * Returns the named market, unless it does not exist or the market of the destination is exclusive.
   * Otherwise returns the market of the destination, or the default one.
   */
  async function marketOf(
    input: CheckoutInput
  ): Promise<{ market: Market; marketProblem?: CheckoutMarketProblem }> {
    const country = shippingOrBillingAddressOf(input)?.country
    const [all, ofDestination] = await Promise.all([
      pricing.markets.list(),
      pricing.markets.resolve({ country })
    ])
    if (input.market === null) return { market: ofDestination }
    const named = all.find(({ code }) => code === input.market)
    if (named === undefined) return { market: ofDestination, marketProblem: 'MARKET_GONE' }
    const isElsewhere = country !== undefined && named.code !== ofDestination.code && ofDestination.exclusive
    return isElsewhere ? { market: ofDestination, marketProblem: 'MARKET_DESTINATION' } : { market: named }
  }

  /** Adds the names of variants that no longer exist, with one more statement if there are any. */
  async function withNames(
    lines: readonly CheckoutLineNotForSale[]
  ): Promise<readonly CheckoutLineNotForSale[]> {
    const gone = lines.filter(({ name }) => name === null).map(({ variantId }) => variantId)
    if (gone.length === 0) return lines
    const names = await catalog.names(gone)
    return lines.map(line => ({ ...line, name: line.name ?? names[gone.indexOf(line.variantId)] ?? null }))
  }
}
export type PriceCheckout = ReturnType<typeof createCheckoutPricer>
