import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../kernel/errors.ts'
import { RecentlyUsedMap } from '../kernel/recently-used-map.ts'
import type { Broadcast } from '../platform/broadcast.ts'
import type { Config } from '../platform/core-settings.ts'
import type { Database } from '../platform/postgres/database.ts'
import { databaseUnavailableError, isDatabaseAvailabilityError } from '../platform/postgres/errors.ts'
import { matchesIfNoneMatch } from './caching/content-negotiation.ts'
import { isGzipWanted, type Representation } from './caching/public-responses.ts'
import type { TierRateLimitHooks } from './callers/rate-limits.ts'
import type { ShopperAddressReader } from './callers/shopper-addresses.ts'
import { createDatabaseOutage } from './database-outage.ts'
import { type ReusedHead, writeReusableHead } from './http-server/reused-head.ts'
import { closeAfterUnreadBody } from './http-server/unread-bodies.ts'
import type { sendErrorResponse } from './problem.ts'
import { commonResponseHeaders, PUBLIC_CACHE_CONTROL } from './routing/response-headers.ts'
import type { ModuleRequestHeaders } from './routing/tiers.ts'

type Keeping = {
  /** Whether the response is still current. */
  readonly isCurrent: () => boolean
  /** Whether it is the first page of a list, which is kept apart, so that other pages do not evict it. */
  readonly isFirstPage: boolean
}
declare module 'fastify' {
  interface FastifyRequest {
    /** How the response of this request is kept; `null` when only its handler knows whether it is current. */
    keeping: Keeping | null
  }
}

const FIRST_PAGES_BYTES_MAX = 4_194_304
const OTHERS_BYTES_MAX = 8_388_608
const ENTRY_OVERHEAD_BYTES = 2_000
/** A kept response is built by its handler again after this time, so the caches behind it see which pages are used. */
const KEPT_MS_MAX = 1_000
/** A shared cache may send a response for so many seconds more while it validates it (RFC 5861, 3). */
const REVALIDATION_SECONDS = 10
/** A response that was current within this time is sent while the database is away. */
const STALE_MS_MAX = 300_000
/** The same for the first page of a list: a shop without its lists shows nothing. */
const STALE_FIRST_PAGE_MS_MAX = 3_600_000

type KeptResponse = Keeping & {
  /** Bytes, because Node copies a string each time that it sends it. */
  readonly body: Buffer
  /** The header blocks that were sent last. */
  plainHead: ReusedHead | undefined
  gzipHead: ReusedHead | undefined
  readonly made: Representation
  /** Name, value, name, value. The first two are the content type, which a 304 does not have. */
  readonly headers: readonly string[]
  readonly cacheControl: string
  readonly until: number
  /** When the response was last known to be current. */
  currentAt: number
}
type Deps = {
  config: Pick<Config, 'server'>
  broadcast: Pick<Broadcast, 'watch' | 'isLive'>
  db: Pick<Database, 'ping'>
  varyHeaders: ModuleRequestHeaders['varyHeaders']
  shopperAddresses: Pick<ShopperAddressReader, 'setShopperAddress'>
  publicLimit: Pick<TierRateLimitHooks, 'takeNow'> | undefined
}

/** The bytes of a text in memory of their own. `Buffer.from` would keep a slab of 64 kB that other buffers share. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

type SendError = typeof sendErrorResponse
export type KeptResponses = ReturnType<typeof createKeptResponses>

/**
 * Lets the gateway send the response again to requests with the same target, while `isCurrent` returns true. For handlers with
 * `cache: 'public'`. `isCurrent` runs for each such request, so it must answer from memory and immediately.
 */
export function keepResponseWhile(
  request: FastifyRequest,
  isCurrent: (() => boolean) | undefined,
  { isFirstPage = false } = {}
): void {
  request.keeping = isCurrent ? { isCurrent, isFirstPage } : null
}

/**
 * Lets shared caches send a public response again without validation, for `seconds` at most (0: never), and not after `changesInMs`.
 * They can purge it by each of its `keys`. Browsers still validate it on each use.
 */
export function allowSharedCaching(
  reply: FastifyReply,
  { seconds, changesInMs, keys }: { seconds: number; changesInMs: number; keys: readonly string[] }
): void {
  // The gateway may send the same headers for a second more.
  const all = Math.min(seconds + REVALIDATION_SECONDS, Math.floor(changesInMs / 1_000) - 1)
  const fresh = Math.min(seconds, all)
  if (fresh <= 0) return
  reply.header(
    'cache-control',
    `${PUBLIC_CACHE_CONTROL}, s-maxage=${fresh}, stale-while-revalidate=${all - fresh}`
  )
  reply.header('surrogate-key', keys.join(' '))
}

/**
 * Keeps responses of public routes by request target and sends them without routing hooks, validation, a slot and the handler.
 * They need no slot, because they take less time than finding one. Other requests continue with the hooks of their route, also
 * those that a limit will refuse.
 *
 * While the database is away, responses that are no longer current are sent for some minutes more, with their age.
 */
export function createKeptResponses({ config, broadcast, db, varyHeaders, ...rest }: Deps) {
  const { shopperAddresses, publicLimit } = rest
  const createMap = (bytesMax: number) =>
    new RecentlyUsedMap<KeptResponse>(
      bytesMax,
      ({ body }, key) => body.length + key.length + ENTRY_OVERHEAD_BYTES
    )
  const firstPages = createMap(FIRST_PAGES_BYTES_MAX)
  const others = createMap(OTHERS_BYTES_MAX)
  const keptHeaders = [
    ...Object.keys(commonResponseHeaders(config)).filter(name => name !== 'cache-control'),
    ...['vary', 'link', 'surrogate-key']
  ]
  const outage = createDatabaseOutage({ broadcast, db }, now => {
    for (const kept of [...firstPages.values(), ...others.values()])
      if (kept.isCurrent()) kept.currentAt = now
  })

  // An empty header differs from an absent one.
  const keyOf = ({ raw, headers }: FastifyRequest): string =>
    varyHeaders.reduce((key, name) => `${key}\n${headers[name] ?? '\n'}`, raw.url ?? '')

  const find = (request: FastifyRequest): KeptResponse | undefined => {
    const { method } = request.raw
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const key = keyOf(request)
    return firstPages.get(key) ?? others.get(key)
  }

  const mayBeStale = ({ isFirstPage, currentAt }: KeptResponse, now: number): boolean =>
    outage.isRecent(now) && now - currentAt < (isFirstPage ? STALE_FIRST_PAGE_MS_MAX : STALE_MS_MAX)

  /** Whether the caller has the right to this request and its limit allows it. Errors are left to the hooks of the tier. */
  function isAllowed(request: FastifyRequest, reply: FastifyReply): boolean {
    let failure: Error | undefined
    shopperAddresses.setShopperAddress(request, reply, (error?: Error) => {
      failure = error
    })
    return failure === undefined && (publicLimit?.takeNow(request) ?? true)
  }

  /** Sends a response, with its age when it is stale. */
  function write(kept: KeptResponse, request: FastifyRequest, reply: FastifyReply, staleAt?: number): void {
    const { body, made, headers, cacheControl, currentAt } = kept
    const isGzipped = made.gzipped instanceof Buffer && isGzipWanted(body, request.headers['accept-encoding'])
    const tag = isGzipped ? made.gzipTag : made.tag
    const own = ['etag', tag]
    // A shared cache could keep a stale response that was purged from it already. RFC 9111, 5.1 and 5.5.
    if (staleAt === undefined) own.push('cache-control', cacheControl)
    else
      own.push(
        'cache-control',
        PUBLIC_CACHE_CONTROL,
        'age',
        String(Math.round((staleAt - currentAt) / 1_000)),
        'warning',
        '110 - "Response is Stale"'
      )
    reply.hijack()
    const response = reply.raw
    closeAfterUnreadBody(request.raw, response)
    const condition = request.headers['if-none-match']
    if (condition !== undefined && matchesIfNoneMatch(condition, tag)) {
      response.writeHead(304, [...headers.slice(2), ...own, 'x-request-id', request.id]).end()
      return
    }
    const sent = isGzipped ? (made.gzipped as Buffer) : body
    if (isGzipped) own.push('content-encoding', 'gzip')
    const all = () => [...headers, ...own, 'content-length', String(sent.length)]
    const form = isGzipped ? 'gzipHead' : 'plainHead'
    // The age of a stale response differs each time.
    if (staleAt !== undefined) kept[form] = undefined
    kept[form] = writeReusableHead(response, all, request.id, kept[form])
    response.end(request.raw.method === 'HEAD' ? '' : sent)
  }

  /** Sends the kept response of a request whose handler failed for lack of the database. Returns false when there is none. */
  function sendInsteadOf(error: Error, request: FastifyRequest, reply: FastifyReply): boolean {
    const found = error instanceof DomainError ? find(request) : undefined
    if (found === undefined) return false
    if (!isDatabaseAvailabilityError(error)) {
      // The handler rejects the request now, such as for a deleted product.
      const { kind } = error as DomainError
      if (kind !== 'unavailable' && kind !== 'rate_limited')
        for (const map of [firstPages, others]) map.delete(keyOf(request))
      return false
    }
    if (error.code === databaseUnavailableError.code || !broadcast.isLive()) outage.handlerFailed()
    const now = performance.now()
    if (!mayBeStale(found, now)) return false
    request.log.warn({ req_id: request.id, err: error }, 'the database is away; a stale response was sent')
    write(found, request, reply, now)
    return true
  }

  return {
    /** Keeps the response if its handler called `keepResponseWhile`. */
    keep(request: FastifyRequest, reply: FastifyReply, text: string, made: Representation): void {
      const { keeping } = request
      // A limit of the route is applied by its hook.
      if (keeping === null || request.routeOptions.config.limit !== undefined) return
      const headers = ['content-type', ...keptHeaders].flatMap(name => {
        const value = reply.getHeader(name)
        return value === undefined ? [] : [name, String(value)]
      })
      const body = bytesOf(text)
      const now = performance.now()
      const cacheControl = String(reply.getHeader('cache-control'))
      const until = now + KEPT_MS_MAX
      const heads = { plainHead: undefined, gzipHead: undefined }
      const kept = { ...keeping, ...heads, body, made, headers, cacheControl, until, currentAt: now }
      ;(keeping.isFirstPage ? firstPages : others).set(keyOf(request), kept)
    },

    /** Sends the kept response. Returns false when there is none that is current and allowed. */
    send(request: FastifyRequest, reply: FastifyReply): boolean {
      const found = find(request)
      if (found === undefined) return false
      const now = performance.now()
      const isNew = now < found.until && found.isCurrent()
      if (!isNew && !(mayBeStale(found, now) && outage.isAway(now))) return false
      const { body, made } = found
      // The `onSend` hook of the route compresses it.
      const mustCompress =
        isNew && isGzipWanted(body, request.headers['accept-encoding']) && !(made.gzipped instanceof Buffer)
      if (mustCompress || !isAllowed(request, reply)) return false
      write(found, request, reply, isNew ? undefined : now)
      return true
    },

    /** Sends the stale response of a request that waits too long while contact with the database is lost. */
    sendInTime(request: FastifyRequest, reply: FastifyReply): boolean {
      const found = broadcast.isLive() ? undefined : find(request)
      const now = performance.now()
      if (found === undefined || !mayBeStale(found, now)) return false
      write(found, request, reply, now)
      return true
    },

    /** Returns an error handler: sends the kept response if the handler failed for lack of the database, otherwise the error. */
    orElse:
      (sendError: SendError): SendError =>
      (error, request, reply) => {
        if (!sendInsteadOf(error, request, reply)) sendError(error, request, reply)
      }
  }
}
