import { randomUUIDv7 } from 'node:crypto'

/** A new identifier: UUIDv7 (RFC 9562, section 5.7), so that rows made together lie together in an index. */
export const newId = (): string => randomUUIDv7()
