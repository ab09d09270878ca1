import type pg from 'pg'
import { PostgresClientQuery } from './client-query.ts'

/** Sends a Sync message alone. The server answers that it is ready, and begins no transaction. */
class SyncQuery extends PostgresClientQuery {
  override submit(connection: pg.Connection & { sync(): void }): void {
    connection.sync()
  }
}

/** Resolves with whether the server has answered over this connection. */
export const answersSync = (client: pg.Client): Promise<boolean> =>
  new Promise(resolve => {
    client.query(new SyncQuery('', []) as unknown as pg.QueryConfig, error => resolve(!error))
  })
