import { parseEmail } from '../../../kernel/email.ts'
import type { CartApi } from '../../cart/index.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { cartEmpty, cartsOff, sourceUnclear } from '../errors.ts'
import { type AddressDraft, readDraft } from './addresses.ts'
import type { CheckoutInput } from './input.ts'
import { type Line, mergeLines } from './lines.ts'
import type { CheckoutBody } from './schema.ts'

/** What a client says of a checkout, and the market that the request names. */
export type Said = { readonly body: CheckoutBody; readonly market: string | null }
/** The cart that lines are from, as it was; nulls: from none. */
export type Source = { readonly cart_id: string; readonly cart_version: number } | typeof NO_CART
const NO_CART = { cart_id: null, cart_version: null } as const
export const sourceOf = (cart_id: string | null, cart_version: number | null): Source =>
  cart_id === null || cart_version === null ? NO_CART : { cart_id, cart_version }
type Taken = { readonly lines: readonly Line[]; readonly source: Source }

type Deps = {
  pricing: Pick<PricingApi, 'markets'>
  cart: Pick<CartApi, 'stored' | 'idOfGuest'> | undefined
}

/** Makes what is kept of what a client says. */
export function createIntake({ pricing, cart }: Deps) {
  /**
   * @throws `PRICING_MARKET_UNKNOWN`, `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`, `CART_GUEST_NOT_FOUND`
   */
  return async (
    customerId: string | null,
    { body, market }: Said
  ): Promise<{ input: CheckoutInput; source: Source }> => {
    if (market !== null) await pricing.markets.resolve({ name: market })
    const { lines, source } = await takeLines(customerId, body)
    const input = {
      ...{ lines, market },
      email: readEmail(body.email ?? ''),
      shippingAddress: readAddress(body.shipping_address),
      billingAddress: readAddress(body.billing_address),
      shippingOption: body.shipping_option ?? null,
      codes: body.codes ?? [],
      note: body.note ?? null
    }
    return { input, source }
  }

  async function takeLines(customerId: string | null, body: CheckoutBody): Promise<Taken> {
    const { items, cart: isOwnCart, guest_cart_token: token } = body
    const hasCart = isOwnCart !== undefined || token !== undefined
    if (hasCart === (items !== undefined)) throw unclear(customerId, hasCart)
    if (items === undefined) return takeCart(customerId, token)
    const lines = items.map(({ variant_id, quantity }) => ({ variantId: variant_id, quantity }))
    return { lines: mergeLines(lines), source: NO_CART }
  }

  async function takeCart(customerId: string | null, token = ''): Promise<Taken> {
    if (cart === undefined) throw cartsOff()
    const cartId = customerId ?? (await cart.idOfGuest(token))
    const { lines, version } = await cart.stored(cartId)
    if (lines.length === 0) throw cartEmpty()
    return { lines, source: { cart_id: cartId, cart_version: version } }
  }
}

export type Intake = ReturnType<typeof createIntake>

function unclear(customerId: string | null, hasBoth: boolean) {
  const cart = customerId === null ? 'guest_cart_token' : 'cart'
  const message = hasBoth ? `must not be sent together with ${cart}` : `is required, unless ${cart} is sent`
  return sourceUnclear({ details: { errors: [{ path: 'body/items', message }] } })
}

/** One that is still being written is kept as it is. */
const readEmail = (text: string): string | null => (text.trim() === '' ? null : (parseEmail(text) ?? text))

const readAddress = (draft: AddressDraft | undefined): AddressDraft | null =>
  draft === undefined ? null : readDraft(draft, '').address
