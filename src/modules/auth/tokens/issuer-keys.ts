import type { createLocalJWKSet, JSONWebKeySet } from 'jose'
import type { HttpClient } from '../../../platform/http/client.ts'
import { invalidToken, issuerUnavailable } from '../errors.ts'
import type { TokenHeader } from './parse.ts'
import { jose } from './verify.ts'

const FETCH_TIMEOUT_MS = 3_000
const DOCUMENT_BYTES_MAX = 524_288
const FRESH_SECONDS = 600
const RETRY_SECONDS = 5

export type IssuerKeysDeps = {
  http: HttpClient
  issuer: string
  /** Between two fetches that unknown keys, or their failure, ask for. */
  cooldownMs: number
  signal: AbortSignal
}

/**
 * The keys of another issuer, by its discovery document (OpenID Connect Discovery 1.0, section 4). Known keys serve
 * while they are refreshed behind the scenes and while the issuer is down; an unknown key is a reason to look. They
 * are kept in this process and nowhere else: whoever could write them into a shared cache could be any administrator.
 */
export function createIssuerKeys({ http, issuer, cooldownMs, signal }: IssuerKeysDeps) {
  let resolveKey: ReturnType<typeof createLocalJWKSet> | undefined
  let staleAt = 0
  let failed = false
  let nextFetchAt = 0
  let fetching: Promise<void> | undefined

  async function learn(jwks: unknown): Promise<void> {
    const { createLocalJWKSet } = await jose()
    resolveKey = createLocalJWKSet(jwks as JSONWebKeySet)
    staleAt = performance.now() + FRESH_SECONDS * 1_000
  }

  async function fetchKeys(): Promise<void> {
    nextFetchAt = performance.now() + cooldownMs
    try {
      await learn(await fetchKeySet({ http, issuer, signal }))
      failed = false
    } catch (cause) {
      failed = true
      throw issuerUnavailable({ cause, retryAfterSeconds: RETRY_SECONDS })
    }
  }

  /** One fetch at a time, whoever asks for it; none within the cool-down after the last. */
  function refetch(): Promise<void> | undefined {
    if (fetching === undefined && performance.now() >= nextFetchAt) {
      fetching = fetchKeys().finally(() => {
        fetching = undefined
      })
    }
    return fetching
  }

  const find = (header: TokenHeader) => resolveKey?.(header).catch(() => undefined)

  /** @throws `AUTH_INVALID_TOKEN` for a key the issuer does not have, `AUTH_ISSUER_UNAVAILABLE` when it cannot be asked. */
  return async function keyFor(header: TokenHeader) {
    if (resolveKey === undefined) await refetch()
    const known = await find(header)
    if (known !== undefined) {
      if (performance.now() > staleAt) refetch()?.catch(() => {})
      return known
    }
    await refetch()
    const fetched = await find(header)
    if (fetched !== undefined) return fetched
    throw failed ? issuerUnavailable({ retryAfterSeconds: RETRY_SECONDS }) : invalidToken()
  }
}
export type IssuerKeys = ReturnType<typeof createIssuerKeys>

type Asked = Pick<IssuerKeysDeps, 'http' | 'issuer' | 'signal'>

/** The key set of an issuer, found by its discovery document. */
export async function fetchKeySet(asked: Asked): Promise<unknown> {
  const discovery = await fetchJson(asked, discoveryUrl(asked.issuer))
  return fetchJson(asked, jwksUrl(asked.issuer, discovery))
}

/** A JSON document within a time and a size, from exactly there. The keys may be elsewhere, on the Internet. */
async function fetchJson({ http, issuer, signal }: Asked, url: string): Promise<unknown> {
  const { status, body } = await http.send({
    url,
    headers: { accept: 'application/json' },
    timeoutMs: FETCH_TIMEOUT_MS,
    bytesMax: DOCUMENT_BYTES_MAX,
    signal,
    isConfigured: new URL(url).origin === new URL(issuer).origin
  })
  if (status !== 200) throw new Error(`${url} answered ${status}`)
  const value: unknown = JSON.parse(body.toString('utf8'))
  if (typeof value !== 'object' || value === null) throw new Error(`${url} is not a JSON object`)
  return value
}

const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

function jwksUrl(issuer: string, discovery: unknown): string {
  const { issuer: named, jwks_uri: uri } = discovery as { issuer?: unknown; jwks_uri?: unknown }
  if (named !== issuer) throw new Error(`the discovery document of ${issuer} is for ${String(named)}`)
  const isProtected = issuer.startsWith('https:')
  if (typeof uri === 'string' && (uri.startsWith('https://') || (!isProtected && uri.startsWith('http://'))))
    return uri
  throw new Error(`the discovery document of ${issuer} has no acceptable jwks_uri`)
}
