import { hash, randomUUIDv7 } from 'node:crypto'

/**
 * A new identifier: UUIDv7 (RFC 9562, section 5.7), so that rows created together are adjacent in an index.
 * @example
 * assert.notEqual(newId(), newId())
 */
export const newId = (): string => randomUUIDv7()

/** Sorts after every id of `newId` that was created before this time, and before every later one. */
export const lowestIdAt = (time: Date): string =>
  time
    .getTime()
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})(.{4})$/, '$1-$2-7000-8000-000000000000')

/** Sorts before every id. */
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000'
/** Sorts after every id, so lists that show the newest first start here. */
export const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/**
 * Whether a text has the form of an identifier.
 * @example
 * assert.equal(isId(newId()), true)
 * assert.equal(isId('blue'), false)
 */
export const isId = (text: string): boolean => UUID.test(text)

/**
 * Derives an identifier from `id` and a label, always the same for both: UUIDv5 (RFC 9562, section 5.5).
 * @example
 * assert.equal(derivedId(customerId, 'welcome'), derivedId(customerId, 'welcome'))
 * assert.notEqual(derivedId(customerId, 'welcome'), derivedId(customerId, 'farewell'))
 */
export function derivedId(id: string, label: string): string {
  const bytes = hash(
    'sha1',
    Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), Buffer.from(label)]),
    'buffer'
  )
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Derives an identifier as `derivedId` does, but with the time of `id`, a UUIDv7, so that it sorts beside `id`. */
export const derivedIdOfSameTime = (id: string, label: string): string =>
  `${id.slice(0, 13)}-7${derivedId(id, label).slice(15)}`
