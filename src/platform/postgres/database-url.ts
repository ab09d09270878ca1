/** Scheme, user and password, hosts, and the rest of a connection URL. */
const CONNECTION_URL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/
/** Attributes of libpq that choose a server which accepts writes. */
export const WRITABLE_SESSION_ATTRIBUTES: readonly string[] = ['read-write', 'primary']
/** Parameters of libpq that the client library does not know. */
const HOST_PARAMETERS = ['target_session_attrs', 'load_balance_hosts']

/** A connection URL as libpq reads it: `postgres://user:password@host1:5432,host2:5432/db?target_session_attrs=read-write`. */
type ParsedDatabaseUrl = { urls: readonly string[]; attributes: string | null }

/** Splits a connection URL into one URL for each host. Returns null when it is none. */
export function parseDatabaseUrl(url: string): ParsedDatabaseUrl | null {
  const [, head = '', hosts = '', tail = ''] = CONNECTION_URL.exec(url) ?? []
  const names = hosts.split(',')
  const urls = names.map(host => URL.parse(`${head}${host}${tail}`))
  const [first] = urls
  if (head === '' || first === null || first === undefined || first.hash !== '') return null
  const attributes = first.searchParams.get('target_session_attrs')
  for (const each of urls)
    for (const name of HOST_PARAMETERS) if (each?.searchParams.has(name)) each.searchParams.delete(name)
  const all = urls.flatMap(each => each?.href ?? [])
  const isComplete = names.length === 1 || !names.includes('')
  return isComplete && all.length === urls.length ? { urls: all, attributes } : null
}

/** Whether the hosts of this URL can be used: several need no attribute or one that chooses a primary. */
export function isSupportedDatabaseUrl(url: string): boolean {
  const parsed = parseDatabaseUrl(url)
  return parsed !== null && [null, 'any', ...WRITABLE_SESSION_ATTRIBUTES].includes(parsed.attributes)
}
