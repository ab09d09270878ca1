import type { lookup as dnsLookup, LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Addresses that are not public (RFC 6890 and its IANA registries). */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4'
]
/** IPv6 global unicast, outside of which no address is public, and its reserved parts. */
const GLOBAL_V6 = ['2000::/3']
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20']

function listOf(subnets: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address, bits] = subnet.split('/') as [string, string]
    list.addSubnet(address, Number(bits), family)
  }
  return list
}

const makeLists = () => ({
  privateV4: listOf(PRIVATE_V4, 'ipv4'),
  globalV6: listOf(GLOBAL_V6, 'ipv6'),
  privateV6: listOf(PRIVATE_V6, 'ipv6')
})
let made: ReturnType<typeof makeLists> | undefined
/** Built on first use, because they would add 10 ms to the start (2026-11). */
const lists = () => {
  made ??= makeLists()
  return made
}

/** Returns the eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [a * 256 + Number(b), c * 256 + Number(d)].map(group => group.toString(16)).join(':')
  )
  const [before = [], after] = plain
    .split('::')
    .map(side => (side === '' ? [] : side.split(':').map(group => Number.parseInt(group, 16))))
  if (after === undefined) return before
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

/** Returns the embedded IPv4 address: mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
function embeddedV4(groups: readonly number[]): string | undefined {
  const at = (index: number) => {
    const [high = 0, low = 0] = groups.slice(index)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const head = groups
    .slice(0, 6)
    .map(group => group.toString(16))
    .join(':')
  if (head === '0:0:0:0:0:ffff' || head === '64:ff9b:0:0:0:0') return at(6)
  return groups[0] === 0x2002 ? at(1) : undefined
}

/** Whether an address is public, and not of this machine or a private network. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !lists().privateV4.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  const inner = embeddedV4(groupsOf(address))
  if (inner !== undefined) return isPublicAddress(inner)
  const { globalV6, privateV6 } = lists()
  return globalV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6')
}

/** The request was not sent; the message says why. */
export class OutboundRequestRefusedError extends Error {
  readonly reason: 'address' | 'scheme' | 'credentials' | 'url'
  constructor(reason: OutboundRequestRefusedError['reason'], message: string) {
    super(message)
    this.name = 'OutboundRefused'
    this.reason = reason
  }
}

/**
 * Resolves a host name and lets the socket connect to its public addresses only. The socket resolves no second time, so DNS
 * rebinding has no effect.
 */
export const lookupPublicAddress =
  (lookup: typeof dnsLookup): LookupFunction =>
  (hostname, { all }, callback) => {
    lookup(hostname, { all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, [])
      const allowed = addresses.filter(({ address }) => isPublicAddress(address))
      const [first] = allowed
      if (first === undefined)
        return callback(new OutboundRequestRefusedError('address', `${hostname} is not a public address`), [])
      if (all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }
