import { parseEmail } from '../../../kernel/email.ts'
import type { AddressDraft } from './addresses.ts'
import type { Line } from './lines.ts'

/** What a client said, as it is kept: all that a price depends on which is theirs to say. */
export type CheckoutInput = {
  /** Each variant once, in the order in which they came. */
  readonly lines: readonly Line[]
  /** The market that was named; null: the destination says which, or it is the default one. */
  readonly market: string | null
  /** It may be none yet: see `emailOf`. */
  readonly email: string | null
  readonly shippingAddress: AddressDraft | null
  readonly billingAddress: AddressDraft | null
  /** The id of a way of delivery. */
  readonly shippingOption: string | null
  /** As they were typed. */
  readonly codes: readonly string[]
  readonly note: string | null
}

/** The address that messages go to; null: it is not known yet. */
export const emailOf = ({ email }: Pick<CheckoutInput, 'email'>): string | null =>
  email === null ? null : (parseEmail(email) ?? null)

/** Where it goes, else where the bill goes: that decides on the market, and on the tax of what is not carried. */
export const addressOf = ({ shippingAddress, billingAddress }: CheckoutInput): AddressDraft | null =>
  shippingAddress ?? billingAddress
