import type { EventEmitter } from 'node:events'
import pg from 'pg'

/** What the client calls of a query, which its types do not declare. */
export type ClientQuery = EventEmitter & {
  name: string
  text: string
  submit(connection: pg.Connection): void
}
export const ClientQuery = pg.Query as unknown as new (text: string, values: unknown[]) => ClientQuery

/** A value as it is sent: text, or bytes. */
export type Prepared = string | Buffer | null
export const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): Prepared } }).utils
