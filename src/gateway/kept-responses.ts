import type { FastifyReply, FastifyRequest } from 'fastify'
import { RecentlyUsedMap } from '../kernel/recently-used-map.ts'
import type { Config } from '../platform/core-settings.ts'
import { matchesIfNoneMatch } from './caching/content-negotiation.ts'
import { isGzipWanted, type Representation } from './caching/public-responses.ts'
import type { TierRateLimitHooks } from './callers/rate-limits.ts'
import type { ShopperAddressReader } from './callers/shopper-addresses.ts'
import { closeAfterUnreadBody } from './http-server/unread-bodies.ts'
import { commonResponseHeaders } from './routing/response-headers.ts'
import type { ModuleRequestHeaders } from './routing/tiers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the response of this request is still current; `null` when only its handler knows. */
    isResponseCurrent: (() => boolean) | null
  }
}

const BYTES_MAX = 33_554_432
const ENTRY_OVERHEAD_BYTES = 1_000
/** A kept response is built by its handler again after this time, so the caches behind it see which pages are used. */
const KEPT_MS_MAX = 1_000

type KeptResponse = {
  readonly text: string
  /** The text, or its bytes unless all characters are ASCII. */
  readonly body: string | Buffer
  readonly made: Representation
  /** Name, value, name, value. The first two are the content type, which a 304 does not have. */
  readonly headers: readonly string[]
  readonly until: number
  readonly isCurrent: () => boolean
}
type Deps = {
  config: Pick<Config, 'server'>
  varyHeaders: ModuleRequestHeaders['varyHeaders']
  shopperAddresses: Pick<ShopperAddressReader, 'setShopperAddress'>
  publicLimit: Pick<TierRateLimitHooks, 'takeNow'> | undefined
}
export type KeptResponses = ReturnType<typeof createKeptResponses>

/**
 * Lets the gateway send the response again to requests with the same target, while `isCurrent` returns true. For handlers with
 * `cache: 'public'`. `isCurrent` runs for each such request, so it must answer from memory and immediately.
 */
export function keepResponseWhile(request: FastifyRequest, isCurrent: (() => boolean) | undefined): void {
  request.isResponseCurrent = isCurrent ?? null
}

/**
 * Keeps responses of public routes by request target and sends them without routing hooks, validation, a slot and the handler.
 * They need no slot, because they take less time than finding one. Other requests continue with the hooks of their route, also
 * those that a limit will refuse.
 */
export function createKeptResponses({ config, varyHeaders, shopperAddresses, publicLimit }: Deps) {
  const kept = new RecentlyUsedMap<KeptResponse>(
    BYTES_MAX,
    ({ text, body }, key) => 2 * (text.length + key.length + body.length) + ENTRY_OVERHEAD_BYTES
  )
  const keptHeaders = [...Object.keys(commonResponseHeaders(config)), 'vary', 'link']

  // An empty header differs from an absent one.
  const keyOf = ({ raw, headers }: FastifyRequest): string =>
    varyHeaders.reduce((key, name) => `${key}\n${headers[name] ?? '\n'}`, raw.url ?? '')

  /** Whether the caller has the right to this request and its limit allows it. Errors are left to the hooks of the tier. */
  function isAllowed(request: FastifyRequest, reply: FastifyReply): boolean {
    let failure: Error | undefined
    shopperAddresses.setShopperAddress(request, reply, (error?: Error) => {
      failure = error
    })
    return failure === undefined && (publicLimit?.takeNow(request) ?? true)
  }

  return {
    /** Keeps the response if its handler called `keepResponseWhile`. */
    keep(request: FastifyRequest, reply: FastifyReply, text: string, made: Representation): void {
      const { isResponseCurrent: isCurrent } = request
      // A limit of the route is applied by its hook.
      if (isCurrent === null || request.routeOptions.config.limit !== undefined) return
      const headers = ['content-type', ...keptHeaders].flatMap(name => {
        const value = reply.getHeader(name)
        return value === undefined ? [] : [name, String(value)]
      })
      const isAscii = Buffer.byteLength(text) === text.length
      const body = isAscii ? text : Buffer.from(text)
      const until = performance.now() + KEPT_MS_MAX
      kept.set(keyOf(request), { text, body, made, headers, until, isCurrent })
    },

    /** Sends the kept response. Returns false when there is none that is current and allowed. */
    send(request: FastifyRequest, reply: FastifyReply): boolean {
      const { method } = request.raw
      if (method !== 'GET' && method !== 'HEAD') return false
      const key = keyOf(request)
      const found = kept.get(key)
      if (found === undefined) return false
      if (performance.now() >= found.until || !found.isCurrent()) {
        kept.delete(key)
        return false
      }
      const { text, made, headers } = found
      const gzipped = isGzipWanted(text, request.headers['accept-encoding']) ? made.gzipped : null
      // The `onSend` hook of the route compresses it.
      if (gzipped !== null && !(gzipped instanceof Buffer)) return false
      if (!isAllowed(request, reply)) return false

      const tag = gzipped === null ? made.tag : made.gzipTag
      const condition = request.headers['if-none-match']
      reply.hijack()
      const response = reply.raw
      closeAfterUnreadBody(request.raw, response)
      const own = ['etag', tag, 'x-request-id', request.id]
      if (condition !== undefined && matchesIfNoneMatch(condition, tag)) {
        response.writeHead(304, [...headers.slice(2), ...own]).end()
        return true
      }
      const body = gzipped ?? found.body
      if (gzipped !== null) own.push('content-encoding', 'gzip')
      response.writeHead(200, [...headers, ...own, 'content-length', String(body.length)])
      // ASCII is written as latin1, which needs no encoding.
      response.end(method === 'HEAD' ? '' : body, 'latin1')
      return true
    }
  }
}
