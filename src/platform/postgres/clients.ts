import type { Socket } from 'node:net'
import type pg from 'pg'

const GOODBYE_MS_MAX = 1_000

/** Closes a connection, and destroys its socket when the server does not respond within a second. */
export async function closePgClient(client: pg.Client): Promise<void> {
  const timer = setTimeout(destroyPgClient, GOODBYE_MS_MAX, client)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** Destroys the socket of a connection; its pending statements fail. */
export const destroyPgClient = (client: pg.Client): void => {
  socketOfPgClient(client).destroy()
}

/** The socket of a connection, which `pg` does not declare. */
export const socketOfPgClient = (client: pg.Client): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream
