import { parseEmail } from '../../../kernel/email.ts'
import { isEmptyMetadata, type Metadata, mergeChangeIntoLineMetadata } from '../../../kernel/metadata.ts'
import type { CartApi } from '../../cart/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { cartEmptyError, cartsDisabledError, checkoutItemsAmbiguousError } from '../errors.ts'
import { type AddressDraft, readAddressDraft } from './addresses.ts'
import { type CheckoutInput, checkoutInputWithChangedMetadata } from './input.ts'
import { type CheckoutLine, mergeCheckoutLines } from './lines.ts'
import type { PlaceOrderInput } from './place-order.ts'
import type { CheckoutRow } from './repository.ts'

/** Id and version of the cart from which the lines were read. Nulls: the lines come from the request. */
type CartColumns = Pick<CheckoutRow, 'cart_id' | 'cart_version'>
const NO_CART: CartColumns = { cart_id: null, cart_version: null }
type LinesWithSource = {
  readonly lines: readonly CheckoutLine[]
  readonly source: CartColumns
  readonly metadata?: Metadata
}

type Deps = {
  pricing: Pick<PricingApi, 'markets'>
  cart: Pick<CartApi, 'findStored' | 'findStoredOfGuest'> | undefined
}

/**
 * Creates the function that turns a request into the stored input. With a cart, it reads the lines from
 * there. The metadata of the request changes that of the stored checkout, and lines of items that are equal to
 * stored ones keep their ids.
 */
export function createCheckoutInputReader({ pricing, cart }: Deps) {
  /**
   * @throws `PRICING_MARKET_UNKNOWN`, `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`,
   * `CART_GUEST_NOT_FOUND`, `METADATA_LIMIT`
   */
  return async (
    customerId: string | null,
    request: PlaceOrderInput,
    stored?: Pick<CheckoutInput, 'lines' | 'metadata'>
  ): Promise<{ input: CheckoutInput; source: CartColumns }> => {
    const { market = null } = request
    if (market !== null) await pricing.markets.resolve({ name: market })
    const { lines, source, metadata = {} } = await readLines(customerId, request, stored?.lines)
    const input: CheckoutInput = {
      lines,
      market,
      email: readEmail(request.email ?? ''),
      shippingAddress: readAddress(request.shipping_address),
      billingAddress: readAddress(request.billing_address),
      shippingOption: request.shipping_option ?? null,
      codes: request.codes ?? [],
      note: request.note ?? null,
      ...(!isEmptyMetadata(metadata) && { cartMetadata: metadata })
    }
    return { input: checkoutInputWithChangedMetadata(input, stored?.metadata, request.metadata), source }
  }

  async function readLines(
    customerId: string | null,
    request: PlaceOrderInput,
    stored?: readonly CheckoutLine[]
  ): Promise<LinesWithSource> {
    const { items, cart: isOwnCart, guest_cart_token: token } = request
    const hasCart = isOwnCart !== undefined || token !== undefined
    if (hasCart === (items !== undefined)) throw sourceError(customerId, hasCart)
    if (items === undefined) return readCart(customerId, token)
    const lines = items.map(({ variant_id, quantity, metadata = {} }) => ({
      variantId: variant_id,
      quantity,
      metadata: mergeChangeIntoLineMetadata({}, metadata)
    }))
    return { lines: mergeCheckoutLines(lines, stored), source: NO_CART }
  }

  async function readCart(customerId: string | null, token = ''): Promise<LinesWithSource> {
    if (cart === undefined) throw cartsDisabledError()
    const { cartId, lines, version, metadata } = await (customerId === null
      ? cart.findStoredOfGuest(token)
      : cart.findStored(customerId))
    if (lines.length === 0) throw cartEmptyError()
    return { lines, source: { cart_id: cartId, cart_version: version }, metadata }
  }
}

export type ReadCheckoutInput = ReturnType<typeof createCheckoutInputReader>

function sourceError(customerId: string | null, hasBoth: boolean) {
  const cart = customerId === null ? 'guest_cart_token' : 'cart'
  const message = hasBoth ? `must not be sent together with ${cart}` : `is required, unless ${cart} is sent`
  return checkoutItemsAmbiguousError({ details: { errors: [{ path: 'body/items', message }] } })
}

/** An incomplete address is stored unchanged, because the buyer is still typing. */
const readEmail = (text: string): string | null => (text.trim() === '' ? null : (parseEmail(text) ?? text))

const readAddress = (draft: AddressDraft | undefined): AddressDraft | null =>
  draft === undefined ? null : readAddressDraft(draft, '').address
