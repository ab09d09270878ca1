import { parseEmail } from '../../../kernel/email.ts'
import {
  assertCustomerWrittenMetadataBytes,
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX,
  isEmptyMetadata,
  type Metadata,
  type MetadataChange,
  mergeMetadata
} from '../../../kernel/metadata.ts'
import type { AddressDraft } from './addresses.ts'
import type { CheckoutLine } from './lines.ts'

/** The input of a checkout as it is stored. */
export type CheckoutInput = {
  /** Each variant once for each metadata, in the order of the request. */
  readonly lines: readonly CheckoutLine[]
  /** The market that the client named. Null: the market of the destination, or the default one. */
  readonly market: string | null
  /** E-mail address of the buyer as the client sent it; it may be incomplete. See `validCheckoutEmailOrNull`. */
  readonly email: string | null
  readonly shippingAddress: AddressDraft | null
  readonly billingAddress: AddressDraft | null
  /** The id of the chosen shipping option. */
  readonly shippingOption: string | null
  /** Promotion codes as the buyer typed them. */
  readonly codes: readonly string[]
  readonly note: string | null
  /** Of the checkout or the order request. Absent: empty. */
  readonly metadata?: Metadata
  /** Of the cart that the lines come from, in the same version. Absent: empty. */
  readonly cartMetadata?: Metadata
}

/**
 * Returns the input with its metadata after a change. @throws `METADATA_LIMIT` also when the order would
 * exceed the limits with the metadata of the cart and of the lines, so that placing it never does.
 */
export function checkoutInputWithChangedMetadata(
  input: CheckoutInput,
  stored: Metadata = {},
  change: MetadataChange = {}
): CheckoutInput {
  const metadata = mergeMetadata(stored, change, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)
  const { metadata: _, ...others } = input
  const changed = isEmptyMetadata(metadata) ? others : { ...others, metadata }
  assertCustomerWrittenMetadataBytes(orderMetadataOf(changed), changed.lines)
  return changed
}

/** The metadata of the order: that of the cart, and over it that of the checkout. @throws `METADATA_LIMIT` */
export const orderMetadataOf = ({ cartMetadata = {}, metadata = {} }: CheckoutInput): Metadata =>
  mergeMetadata(cartMetadata, metadata, CUSTOMER_WRITTEN_METADATA_BYTES_MAX)

/** The email address for messages. Null: it is missing or invalid. */
export const validCheckoutEmailOrNull = ({ email }: Pick<CheckoutInput, 'email'>): string | null =>
  email === null ? null : (parseEmail(email) ?? null)

/** The shipping address, or else the billing address. It selects the market, and the tax of digital lines. */
export const shippingOrBillingAddressOf = ({
  shippingAddress,
  billingAddress
}: CheckoutInput): AddressDraft | null => shippingAddress ?? billingAddress
