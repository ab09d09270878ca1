import { BlockList, isIPv6 } from 'node:net'
import type { Config } from '../../config.ts'
import { hostnameIn, isOwnName } from '../../kernel/hosts.ts'

type Settings = Pick<Config, 'environment' | 'server'>

/**
 * Whether requests to this Host are served. In production all are. In development only names of this machine are, and those of the
 * settings: a page on the Internet can let its own name resolve to 127.0.0.1, and would then read what is shown here, such as
 * reset links at `/mails`, as its own.
 */
export function createHostCheck({ environment, server }: Settings): (host: string | undefined) => boolean {
  if (environment === 'production') return () => true
  const known = new Set(server.development_hosts.map(name => name.toLowerCase()))
  const own = URL.parse(server.public_url)?.hostname
  if (own !== undefined && own !== '') known.add(own)
  return host => {
    const name = host === undefined ? undefined : hostnameIn(host)
    // HTTP/1.0 needs no Host, and browsers do not speak it.
    return host === undefined || (name !== undefined && (isOwnName(name) || known.has(name)))
  }
}

/** Whether a connection comes from this machine, or from an address or network in `server.development_peers`. */
export function createPeerCheck({
  server
}: Pick<Settings, 'server'>): (address: string | undefined) => boolean {
  const near = new BlockList()
  near.addSubnet('127.0.0.0', 8, 'ipv4')
  near.addAddress('::1', 'ipv6')
  for (const peer of server.development_peers) {
    const [address = '', bits] = peer.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) near.addAddress(address, family)
    else near.addSubnet(address, Number(bits), family)
  }
  // An IPv4 address that reached a socket of IPv6 (::ffff:127.0.0.1) is checked as the one that it is.
  return address => address !== undefined && near.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
