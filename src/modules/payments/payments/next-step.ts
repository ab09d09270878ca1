import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { CustomerPaymentStep } from '../providers/port.ts'

const PURPOSE = 'payments.next_step'

/** Encrypts what the customer needs to pay, for the row of the payment. */
export const sealCustomerPaymentStep = (secrets: Secrets, step: CustomerPaymentStep): Buffer =>
  secrets.seal(PURPOSE, Buffer.from(JSON.stringify(step)))

/** Undefined when the keys of the secrets no longer open it. */
export function openCustomerPaymentStep(secrets: Secrets, sealed: Buffer): CustomerPaymentStep | undefined {
  const opened = secrets.open(PURPOSE, sealed)
  return opened === undefined ? undefined : JSON.parse(opened.toString())
}
