import type { NetConnectOpts } from 'node:net'
import type { TcpProxy } from './tcp-proxy.ts'

const POSTGRES_PORT = 5432

/** The socket of the server: a port, or a file in the folder that the URL names as its host. */
export function addressOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url)
  const host = decodeURIComponent(hostname) || (searchParams.get('host') ?? '')
  if (host.startsWith('/')) return { path: `${host}/.s.PGSQL.${port || POSTGRES_PORT}` }
  return { host, port: Number(port) || POSTGRES_PORT }
}

/** The same database through a proxy in front of its server. */
export function throughProxy(directUrl: string, { port }: Pick<TcpProxy, 'port'>): string {
  const url = new URL(directUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  url.searchParams.delete('host')
  return url.href
}
