import type { EventEmitter } from 'node:events'
import pg from 'pg'

/** The methods that the `pg` client calls on a query, which its types do not declare. */
export type PostgresClientQuery = EventEmitter & {
  name: string
  text: string
  submit(connection: pg.Connection): void
}
export const PostgresClientQuery = pg.Query as unknown as new (
  text: string,
  values: unknown[]
) => PostgresClientQuery

/** A value as it is sent: text, or bytes. */
export type PostgresWireValue = string | Buffer | null
export const { prepareValue } = (
  pg as unknown as { utils: { prepareValue(value: unknown): PostgresWireValue } }
).utils
