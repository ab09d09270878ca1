import { isIP } from 'node:net'
import { isTimeZone } from './kernel/days.ts'

/** What the URLs must look like. They hold passwords: problems name the key and never quote the value. */
const URLS: Readonly<Record<string, { scheme: RegExp; example: string }>> = {
  'database.url': { scheme: /^postgres(ql)?:$/, example: 'postgres://user:password@host:5432/database' },
  'cache.url': { scheme: /^rediss?:$/, example: 'redis://user:password@host:6379/0' },
  'server.public_url': { scheme: /^https?:$/, example: 'https://shop.example.com' }
}

/** What is wrong with values of which a schema says too little. */
export function valueProblems(tree: Readonly<Record<string, unknown>>): string[] {
  const textAt = (key: string): string | undefined => {
    const [section = '', name = ''] = key.split('.')
    const value = (tree[section] as Record<string, unknown> | undefined)?.[name]
    return typeof value === 'string' ? value : undefined
  }
  const problems = Object.entries(URLS).flatMap(([key, rule]) => {
    const url = textAt(key) ?? ''
    const parsed = URL.parse(url)
    if (url === '' || (parsed !== null && rule.scheme.test(parsed.protocol) && parsed.hash === '')) return []
    return [
      `${key}: must look like ${rule.example}; in user and password, write # / ? @ : as %23 %2F %3F %40 %3A`
    ]
  })
  const zone = textAt('shop.time_zone')
  if (zone !== undefined && !isTimeZone(zone))
    problems.push('shop.time_zone: must be the name of a time zone, such as Europe/Berlin')
  return [...problems, ...serverProblems((tree.server ?? {}) as Server)]
}

type Server = { private_metrics?: unknown; diagnostics_port?: unknown; development_peers?: unknown }

function serverProblems({ private_metrics, diagnostics_port, development_peers }: Server): string[] {
  const peers = Array.isArray(development_peers) ? development_peers : []
  const wrong = peers.filter(peer => !isNetwork(String(peer)))
  return [
    ...wrong.map(peer => `server.development_peers: ${peer} is no IP address or network`),
    ...(private_metrics === true && (diagnostics_port ?? 0) === 0
      ? ['server.private_metrics: needs server.diagnostics_port, where the metrics are then']
      : [])
  ]
}

function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128))
}
