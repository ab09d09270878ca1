import { onTestFinished } from 'vitest'
import { endConnections, useTestDatabaseUrl } from '../support/database.ts'
import { addressOf, throughProxy } from './postgres-address.ts'
import type { ChunkWatch } from './proxied-connection.ts'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export type ProxiedDatabase = {
  /** Through the proxy. */
  url: string
  directUrl: string
  proxy: TcpProxy
}

/**
 * A test database behind a proxy that can break the connection, for one test. Tests of a file that calls `shareShops` share the
 * database.
 */
export async function useProxiedDatabase(watch?: ChunkWatch): Promise<ProxiedDatabase> {
  const directUrl = await useTestDatabaseUrl()
  const proxy = await openTcpProxy(addressOf(directUrl), watch)
  onTestFinished(async () => {
    await proxy.close()
    // The server keeps those that the proxy broke, with their locks.
    await endConnections(directUrl)
  })
  return { url: throughProxy(directUrl, proxy), directUrl, proxy }
}
