import type { NetConnectOpts } from 'node:net'
import { onTestFinished } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import type { Watch } from './proxied-connection.ts'
import { openTcpProxy, type TcpProxy } from './tcp-proxy.ts'

const POSTGRES_PORT = 5432

export type ProxiedDatabase = {
  /** By way of the proxy. */
  url: string
  directUrl: string
  proxy: TcpProxy
}

/** A test database behind a proxy that can break the connection, for one test. */
export async function useProxiedDatabase(watch?: Watch): Promise<ProxiedDatabase> {
  const created = await createTestDatabase()
  const proxy = await openTcpProxy(addressOf(created.url), watch)
  onTestFinished(async () => {
    await proxy.close()
    await created.drop()
  })
  return { url: throughProxy(created.url, proxy), directUrl: created.url, proxy }
}

export function throughProxy(directUrl: string, { port }: TcpProxy): string {
  const url = new URL(directUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}

/** The socket of the server: a port, or below the folder that the URL has in the place of a host. */
export function addressOf(url: string): NetConnectOpts {
  const { hostname, port } = new URL(url)
  const host = decodeURIComponent(hostname)
  if (host.startsWith('/')) return { path: `${host}/.s.PGSQL.${port || POSTGRES_PORT}` }
  return { host, port: Number(port) || POSTGRES_PORT }
}
