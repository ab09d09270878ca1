import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { EVENT_DICTIONARY } from './event-dictionary.ts'

const PURPOSE = 'payments.event_by_dictionary'
/** Of bytes that earlier programs stored: compressed without a dictionary, and not compressed. */
const PURPOSE_OF_DEFLATED = 'payments.deflated_event'
const PURPOSE_OF_PLAIN = 'payments.event'
const OPTIONS = { dictionary: EVENT_DICTIONARY }

/** Compresses the bytes of an event and encrypts them. With the text that events repeat, about a quarter is left. */
export const sealProviderEvent = (secrets: Pick<Secrets, 'seal'>, raw: Buffer): Buffer =>
  secrets.seal(PURPOSE, deflateRawSync(raw, OPTIONS))

/** Undefined when the keys of the secrets no longer open them. */
export function openProviderEvent(secrets: Pick<Secrets, 'open'>, sealed: Buffer): Buffer | undefined {
  const stored = secrets.open(PURPOSE, sealed)
  if (stored !== undefined) return inflateRawSync(stored, OPTIONS)
  const deflated = secrets.open(PURPOSE_OF_DEFLATED, sealed)
  return deflated === undefined ? secrets.open(PURPOSE_OF_PLAIN, sealed) : inflateRawSync(deflated)
}
