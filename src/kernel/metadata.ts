import { defineError } from './errors.ts'
import { patternWithMessage } from './patterns.ts'
import { Type } from './schema.ts'
import { nullable } from './wire.ts'

// Data that clients and modules store with an object. Our own code never reads it. The contract is Stripe's.

export const METADATA_KEYS_MAX = 50
const KEY_LENGTH_MAX = 40
const VALUE_LENGTH_MAX = 500
/** The maximum of objects that customers write, as JSON text in UTF-8. */
export const OWN_METADATA_BYTES_MAX = 16_384
/** Keys in the filter of a list. */
const FILTER_KEYS_MAX = 10

export type Metadata = Readonly<Record<string, string>>
/** A change of metadata: sent keys are set, keys with null or an empty text are deleted, all others stay. */
export type MetadataChange = Readonly<Record<string, string | null>>

export const metadataLimitExceededError = defineError(
  'invalid',
  'METADATA_LIMIT',
  'With this change the metadata has more than 50 keys, or is too long. Delete other keys: send them as null.'
)

/** The change with null for every key to delete. */
export const normalizeMetadataChange = (change: MetadataChange): MetadataChange =>
  Object.fromEntries(Object.entries(change).map(([key, value]) => [key, value === '' ? null : value]))

/** Returns the metadata after a change. @throws `METADATA_LIMIT` when it has too many keys or bytes. */
export function mergeMetadata(
  stored: Metadata,
  change: MetadataChange,
  bytesMax = Number.POSITIVE_INFINITY
): Metadata {
  const merged = new Map<string, string | null>(Object.entries(stored))
  for (const [key, value] of Object.entries(normalizeMetadataChange(change))) merged.set(key, value)
  const kept = [...merged].flatMap(([key, value]): [string, string][] =>
    value === null ? [] : [[key, value]]
  )
  const metadata = Object.fromEntries(kept)
  if (!isWithinLimits(metadata, bytesMax)) throw metadataLimitExceededError()
  return metadata
}

/**
 * Returns the metadata with the keys of `added` that it lacks, in their order. A key that exceeds the limits is
 * left out, because the caller cannot ask its client to correct it.
 */
export function completeMetadata(stored: Metadata, added: Metadata, bytesMax: number): Metadata {
  let completed = stored
  for (const [key, value] of Object.entries(added)) {
    if (Object.hasOwn(completed, key)) continue
    const next = { ...completed, [key]: value }
    if (isWithinLimits(next, bytesMax)) completed = next
  }
  return completed
}

const isWithinLimits = (metadata: Metadata, bytesMax: number): boolean =>
  Object.keys(metadata).length <= METADATA_KEYS_MAX &&
  (bytesMax === Number.POSITIVE_INFINITY || bytesOf(metadata) <= bytesMax)

/** Counts the bytes as PostgreSQL does: its JSON has a space after each colon and comma. */
const bytesOf = (metadata: Metadata): number =>
  Buffer.byteLength(JSON.stringify(metadata)) + Math.max(0, 2 * Object.keys(metadata).length - 1)

const Key = Type.String(
  patternWithMessage(
    `^[^\\u0000-\\u001f\\u007f\\[\\]]{1,${KEY_LENGTH_MAX}}$`,
    `must have a name of one line without brackets, ${KEY_LENGTH_MAX} characters at most`
  )
)
const MERGES = `At most ${METADATA_KEYS_MAX} keys of ${KEY_LENGTH_MAX} characters with texts of ${VALUE_LENGTH_MAX}. Sent keys are set, null or an empty text deletes a key, and other keys stay.`
const change = (description: string, options = {}) =>
  Type.Optional(
    Type.Record(Key, nullable(Type.String({ maxLength: VALUE_LENGTH_MAX })), {
      description: `${description} ${MERGES}`,
      maxProperties: METADATA_KEYS_MAX,
      additionalProperties: false,
      ...options
    })
  )

/** The field of requests on objects that customers write. */
export const ownMetadataFields = {
  metadata: change('Data of your own, 16 kB in all.', { 'x-bytes-max': OWN_METADATA_BYTES_MAX })
}
/** The fields of requests on objects that administrators write. */
export const metadataFields = {
  metadata: change('Data of your own.'),
  private_metadata: change('Data of your own that only administrators see.')
}

const stored = (description: string) =>
  Type.Record(Type.String({ pattern: '^' }), Type.String(), { description })
/** The field of responses to customers and guests. */
export const customerMetadataResponseFields = { metadata: stored('Data of your own.') }
/** The fields of responses to administrators. */
export const adminMetadataResponseFields = {
  ...customerMetadataResponseFields,
  private_metadata: stored('Data of your own that only administrators see.')
}

/** The query parameter of lists that administrators filter by metadata: `metadata[key]=value`. */
export const metadataQuery = {
  metadata: Type.Optional(
    Type.Record(Key, Type.String({ maxLength: VALUE_LENGTH_MAX }), {
      description: 'Only objects with this metadata, as `metadata[key]=value`. All keys must match.',
      maxProperties: FILTER_KEYS_MAX,
      additionalProperties: false
    })
  )
}
