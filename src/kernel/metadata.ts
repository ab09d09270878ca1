import { defineError } from './errors.ts'
import { patternWithMessage } from './patterns.ts'
import { Type } from './schema.ts'
import { nullable } from './wire.ts'

// Data that clients and modules store with an object. Our own code never reads it. The contract is Stripe's.

export const METADATA_KEYS_MAX = 50
/** The maximum of a line of a cart, checkout or order. */
export const LINE_METADATA_KEYS_MAX = 10
const KEY_LENGTH_MAX = 40
const VALUE_LENGTH_MAX = 500
/**
 * The maximum of objects that customers write, as JSON text in UTF-8. For a cart or checkout: with the metadata of its lines.
 */
export const CUSTOMER_WRITTEN_METADATA_BYTES_MAX = 16_384
/** Keys in the filter of a list. */
const FILTER_KEYS_MAX = 10

export type Metadata = Readonly<Record<string, string>>
/** A change of metadata: sent keys are set, keys with null or an empty text are deleted, all others stay. */
export type MetadataChange = Readonly<Record<string, string | null>>

export const metadataLimitExceededError = defineError(
  'invalid',
  'METADATA_LIMIT',
  'With this change the metadata has too many keys, or is too long. Delete other keys: send them as null.'
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
  const metadata = withChange(stored, change)
  if (!isWithinLimits(metadata, bytesMax)) throw metadataLimitExceededError()
  return metadata
}

/**
 * Returns the metadata of a line after a change. Its bytes count for the cart or checkout: see `assertCustomerWrittenMetadataBytes`.
 * @throws `METADATA_LIMIT` when it has more than 10 keys.
 */
export function mergeChangeIntoLineMetadata(stored: Metadata, change: MetadataChange): Metadata {
  const metadata = withChange(stored, change)
  if (Object.keys(metadata).length > LINE_METADATA_KEYS_MAX) throw metadataLimitExceededError()
  return metadata
}

/** Whether the change leaves the metadata equal. */
export const isMetadataKeptBy = (stored: Metadata, change: MetadataChange): boolean =>
  metadataEqualityKey(withChange(stored, change)) === metadataEqualityKey(stored)

function withChange(stored: Metadata, change: MetadataChange): Metadata {
  const merged = new Map<string, string | null>(Object.entries(stored))
  for (const [key, value] of Object.entries(normalizeMetadataChange(change))) merged.set(key, value)
  const kept = [...merged].flatMap(([key, value]): [string, string][] =>
    value === null ? [] : [[key, value]]
  )
  return Object.fromEntries(kept)
}

/** Whether the metadata has no key. */
export function isEmptyMetadata(metadata: Metadata): boolean {
  for (const _ in metadata) return false
  return true
}

/** Returns a text that is equal for equal metadata, in any order of its keys. It is empty for empty metadata. */
export function metadataEqualityKey(metadata: Metadata): string {
  if (isEmptyMetadata(metadata)) return ''
  return JSON.stringify(Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns a text that is equal for lines of one variant with equal metadata. */
export const lineEqualityKey = (line: { readonly variantId: string; readonly metadata: Metadata }): string =>
  line.variantId + metadataEqualityKey(line.metadata)

/** Adds up the quantities of equal lines into the first of them. */
export function mergeEqualLines<
  L extends { readonly variantId: string; readonly quantity: number; readonly metadata: Metadata }
>(lines: readonly L[]): L[] {
  const merged = new Map<string, L>()
  for (const line of lines) {
    const key = lineEqualityKey(line)
    const equal = merged.get(key)
    merged.set(key, equal === undefined ? line : { ...equal, quantity: equal.quantity + line.quantity })
  }
  return [...merged.values()]
}

/** Adds up the bytes of metadata of several objects. Empty metadata counts nothing. */
export const sumMetadataBytes = (all: readonly Metadata[]): number =>
  all.reduce((sum, metadata) => (isEmptyMetadata(metadata) ? sum : sum + bytesOf(metadata)), 0)

/** Checks the metadata of a cart or checkout together with that of its lines. @throws `METADATA_LIMIT` */
export function assertCustomerWrittenMetadataBytes(
  own: Metadata,
  lines: readonly { readonly metadata: Metadata }[]
): void {
  if (sumMetadataBytes([own, ...lines.map(line => line.metadata)]) > CUSTOMER_WRITTEN_METADATA_BYTES_MAX)
    throw metadataLimitExceededError()
}

/**
 * Returns the metadata with the keys of `added` that it lacks, in their order. A key that exceeds the limits is
 * left out, because the caller cannot ask its client to correct it.
 */
export function addMissingMetadataKeys(stored: Metadata, added: Metadata, bytesMax: number): Metadata {
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
const LIMITS = `keys of ${KEY_LENGTH_MAX} characters with texts of ${VALUE_LENGTH_MAX}.`
const MERGES = 'Sent keys are set, null or an empty text deletes a key, and other keys stay.'
const change = (description: string, keysMax: number, options = {}) =>
  Type.Optional(
    Type.Record(Key, nullable(Type.String({ maxLength: VALUE_LENGTH_MAX })), {
      description: `${description} At most ${keysMax} ${LIMITS} ${MERGES}`,
      maxProperties: keysMax,
      additionalProperties: false,
      ...options
    })
  )
const OWN_BYTES = { 'x-bytes-max': CUSTOMER_WRITTEN_METADATA_BYTES_MAX }

/** The field of requests on objects that customers write. */
export const customerMetadataRequestFields = {
  metadata: change('Data of your own, 16 kB in all.', METADATA_KEYS_MAX, OWN_BYTES)
}
/** The field of requests on lines of carts and checkouts. */
export const lineMetadataFields = {
  metadata: change(
    'Data of your own for this line, such as an engraving. Lines of one variant with different metadata stay apart. A cart or checkout has 16 kB in all.',
    LINE_METADATA_KEYS_MAX,
    OWN_BYTES
  )
}
/** The fields of requests on objects that administrators write. */
export const adminMetadataRequestFields = {
  metadata: change('Data of your own.', METADATA_KEYS_MAX),
  private_metadata: change('Data of your own that only administrators see.', METADATA_KEYS_MAX)
}

const stored = (description: string) =>
  Type.Record(Type.String({ pattern: '^' }), Type.String(), { description })
/** The field of responses to customers and guests. */
export const publicMetadataResponseFields = { metadata: stored('Data of your own.') }
/** The fields of responses to administrators. */
export const adminMetadataResponseFieldSchemas = {
  ...publicMetadataResponseFields,
  private_metadata: stored('Data of your own that only administrators see.')
}

/** The query parameter of lists that administrators filter by metadata: `metadata[key]=value`. */
export const metadataFilterQuery = {
  metadata: Type.Optional(
    Type.Record(Key, Type.String({ maxLength: VALUE_LENGTH_MAX }), {
      description: 'Only objects with this metadata, as `metadata[key]=value`. All keys must match.',
      maxProperties: FILTER_KEYS_MAX,
      additionalProperties: false
    })
  )
}
