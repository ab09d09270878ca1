import { BlockList, isIPv6 } from 'node:net'
import { hostnameOfHostHeader, isLoopbackHost } from '../../kernel/hosts.ts'
import type { Config } from '../../platform/core-settings.ts'

type DevelopmentSettings = Pick<Config, 'environment' | 'server'>

/**
 * Creates the check whether a Host is served. In production all are; in development only localhost and the configured
 * names. This prevents DNS rebinding: a website could resolve its name to 127.0.0.1 and read reset links at `/mails`.
 */
export function createAllowedHostCheck({
  environment,
  server
}: DevelopmentSettings): (host: string | undefined) => boolean {
  if (environment === 'production') return () => true
  const known = new Set(server.development_hosts.map(name => name.toLowerCase()))
  const own = URL.parse(server.public_url)?.hostname
  if (own !== undefined && own !== '') known.add(own)
  return host => {
    const name = host === undefined ? undefined : hostnameOfHostHeader(host)
    // HTTP/1.0 has no Host. Browsers do not use it, so they cannot be misused.
    return host === undefined || (name !== undefined && (isLoopbackHost(name) || known.has(name)))
  }
}

/** Creates the check whether an address is this machine, or in `server.development_peers`. */
export function createDevelopmentPeerCheck({
  server
}: Pick<DevelopmentSettings, 'server'>): (address: string | undefined) => boolean {
  const near = new BlockList()
  near.addSubnet('127.0.0.0', 8, 'ipv4')
  near.addAddress('::1', 'ipv6')
  for (const peer of server.development_peers) {
    const [address = '', bits] = peer.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) near.addAddress(address, family)
    else near.addSubnet(address, Number(bits), family)
  }
  // BlockList checks mapped addresses (::ffff:127.0.0.1) as IPv4.
  return address => address !== undefined && near.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
