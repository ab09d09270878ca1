import { parseEmail } from '../../../kernel/email.ts'
import type { AddressDraft } from './addresses.ts'
import type { CheckoutLine } from './lines.ts'

/** The input of a checkout as it is stored. */
export type CheckoutInput = {
  /** Each variant once, in the order of the request. */
  readonly lines: readonly CheckoutLine[]
  /** The market that the client named. Null: the market of the destination, or the default one. */
  readonly market: string | null
  /** As the client sent it; it may be incomplete. See `validEmailOf`. */
  readonly email: string | null
  readonly shippingAddress: AddressDraft | null
  readonly billingAddress: AddressDraft | null
  /** The id of the chosen shipping option. */
  readonly shippingOption: string | null
  /** Promotion codes as the buyer typed them. */
  readonly codes: readonly string[]
  readonly note: string | null
}

/** The email address for messages. Null: it is missing or invalid. */
export const validEmailOf = ({ email }: Pick<CheckoutInput, 'email'>): string | null =>
  email === null ? null : (parseEmail(email) ?? null)

/** The shipping address, or else the billing address. It selects the market, and the tax of digital lines. */
export const taxAddressOf = ({ shippingAddress, billingAddress }: CheckoutInput): AddressDraft | null =>
  shippingAddress ?? billingAddress
