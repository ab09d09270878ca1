import { onTestFinished } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { addressOf, throughProxy } from './postgres-address.ts'
import type { ChunkWatch } from './proxied-connection.ts'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export type ProxiedDatabase = {
  /** Through the proxy. */
  url: string
  directUrl: string
  proxy: TcpProxy
}

/** A test database behind a proxy that can break the connection, for one test. */
export async function useProxiedDatabase(watch?: ChunkWatch): Promise<ProxiedDatabase> {
  const created = await createTestDatabase()
  const proxy = await openTcpProxy(addressOf(created.url), watch)
  onTestFinished(async () => {
    await proxy.close()
    await created.drop()
  })
  return { url: throughProxy(created.url, proxy), directUrl: created.url, proxy }
}
