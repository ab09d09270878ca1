import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'payments.deflated_event'
/** Of bytes that were stored without compression, by an earlier program. */
const PURPOSE_OF_PLAIN = 'payments.event'

/** Compresses the bytes of an event, usually to half of them or less, and encrypts them. */
export const sealProviderEvent = (secrets: Pick<Secrets, 'seal'>, raw: Buffer): Buffer =>
  secrets.seal(PURPOSE, deflateRawSync(raw, { level: 1 }))

/** Undefined when the keys of the secrets no longer open them. */
export function openProviderEvent(secrets: Pick<Secrets, 'open'>, sealed: Buffer): Buffer | undefined {
  const deflated = secrets.open(PURPOSE, sealed)
  return deflated === undefined ? secrets.open(PURPOSE_OF_PLAIN, sealed) : inflateRawSync(deflated)
}
