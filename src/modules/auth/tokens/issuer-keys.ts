import type { createLocalJWKSet, JSONWebKeySet } from 'jose'
import type { HttpClient } from '../../../platform/http/client.ts'
import { invalidAccessTokenError, tokenIssuerUnavailableError } from '../errors.ts'
import type { JwtHeader } from './parse.ts'
import { loadJoseLibrary } from './verify.ts'

const FETCH_TIMEOUT_MS = 3_000
const DOCUMENT_BYTES_MAX = 524_288
const FRESH_SECONDS = 600
const RETRY_SECONDS = 5

export type IssuerKeysDeps = {
  http: HttpClient
  issuer: string
  /** Milliseconds between two fetches that unknown keys or errors cause. */
  cooldownMs: number
  signal: AbortSignal
}

/**
 * Loads the keys of an external issuer by its discovery document (OpenID Connect Discovery 1.0, section 4). Known keys are
 * used while they are refreshed in the background and while the issuer is down. An unknown key triggers a fetch. Keys are
 * cached in this process only, because write access to a shared cache would allow forging administrators.
 */
export function createIssuerKeyLoader({ http, issuer, cooldownMs, signal }: IssuerKeysDeps) {
  let resolveKey: ReturnType<typeof createLocalJWKSet> | undefined
  let staleAt = 0
  let failed = false
  let nextFetchAt = 0
  let fetching: Promise<void> | undefined

  async function storeKeys(jwks: unknown): Promise<void> {
    const { createLocalJWKSet } = await loadJoseLibrary()
    resolveKey = createLocalJWKSet(jwks as JSONWebKeySet)
    staleAt = performance.now() + FRESH_SECONDS * 1_000
  }

  async function fetchKeys(): Promise<void> {
    nextFetchAt = performance.now() + cooldownMs
    try {
      await storeKeys(await fetchIssuerKeySet({ http, issuer, signal }))
      failed = false
    } catch (cause) {
      failed = true
      throw tokenIssuerUnavailableError({ cause, retryAfterSeconds: RETRY_SECONDS })
    }
  }

  /** Runs one fetch at a time, and none within the cool-down after the last. */
  function refetch(): Promise<void> | undefined {
    if (fetching === undefined && performance.now() >= nextFetchAt) {
      fetching = fetchKeys().finally(() => {
        fetching = undefined
      })
    }
    return fetching
  }

  const find = (header: JwtHeader) => resolveKey?.(header).catch(() => undefined)

  /** @throws `AUTH_INVALID_TOKEN` for a key the issuer does not have, `AUTH_ISSUER_UNAVAILABLE` when they cannot be loaded. */
  return async function keyFor(header: JwtHeader) {
    if (resolveKey === undefined) await refetch()
    const known = await find(header)
    if (known !== undefined) {
      if (performance.now() > staleAt) refetch()?.catch(() => {})
      return known
    }
    await refetch()
    const fetched = await find(header)
    if (fetched !== undefined) return fetched
    throw failed
      ? tokenIssuerUnavailableError({ retryAfterSeconds: RETRY_SECONDS })
      : invalidAccessTokenError()
  }
}
export type LoadIssuerKey = ReturnType<typeof createIssuerKeyLoader>

type IssuerRequest = Pick<IssuerKeysDeps, 'http' | 'issuer' | 'signal'>

/** Fetches the key set of an issuer by its discovery document. */
export async function fetchIssuerKeySet(request: IssuerRequest): Promise<unknown> {
  const discovery = await fetchJson(request, discoveryUrl(request.issuer))
  return fetchJson(request, jwksUrl(request.issuer, discovery))
}

/** Fetches a JSON document with limits of time and size. The origin of the issuer is trusted; others must be public. */
async function fetchJson({ http, issuer, signal }: IssuerRequest, url: string): Promise<unknown> {
  const { status, body } = await http.send({
    url,
    headers: { accept: 'application/json' },
    timeoutMs: FETCH_TIMEOUT_MS,
    bytesMax: DOCUMENT_BYTES_MAX,
    signal,
    isConfigured: new URL(url).origin === new URL(issuer).origin
  })
  if (status !== 200) throw new Error(`${url} returned ${status}`)
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
