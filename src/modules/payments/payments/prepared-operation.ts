import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { PaymentProviderOperation } from '../providers/port.ts'

/** An operation that is marked as sent, with the bytes that each attempt sends. */
export type PreparedPaymentOperation = {
  readonly draft: PaymentProviderOperation
  /** The name of the provider. */
  readonly provider: string
  readonly request: Buffer
  /** Seconds since the operation was first sent. */
  readonly ageSeconds: number
}

const PURPOSE = 'payments.request'

/** Encrypts the bytes of an operation, for its row. */
export const sealPaymentRequest = (secrets: Secrets, request: Buffer): Buffer =>
  secrets.seal(PURPOSE, request)
/** Undefined when the keys of the secrets no longer open it. */
export const openPaymentRequest = (secrets: Secrets, sealed: Buffer): Buffer | undefined =>
  secrets.open(PURPOSE, sealed)
