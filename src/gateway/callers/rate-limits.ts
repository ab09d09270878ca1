import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OpenRequestBudget, RequestBudget } from '../../kernel/shared-request-budgets.ts'
import { rateLimitedError } from '../errors.ts'
import { isStreamedBody } from '../routing/body-kinds.ts'

export type RateLimit = {
  name: string
  perMinute: number
  callerOf: (request: FastifyRequest) => string
  /** The name of its budget. Default: `name`. */
  budget?: string
}
type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

export type TierRateLimitHooks = {
  onRequest: Hook
  preValidation: Hook
  /** Takes one request. Returns false, and takes nothing, when too few are left or another process has to decide. */
  takeNow(request: FastifyRequest): boolean
}

/** A body counts as one additional request for each of these bytes. */
export const BODY_BYTES_CHARGED_AS_REQUEST = 4_096

/** Creates the hook of a rate limit. Requests above it get 429 with `Retry-After` and the RateLimit headers. */
export function createRateLimitHook(openBudget: OpenRequestBudget, limit: RateLimit): Hook {
  const spend = spenderOf(limit, openBudgetOf(openBudget, limit))
  return (request, reply, done) => spend(request, reply, 1, done)
}

/**
 * Creates the hooks of a tier's limit. A request costs the `countsAs` of its route plus the length of its body; streamed
 * bodies cost nothing. `onRequest` charges before the body is read, `preValidation` if no length was announced.
 */
export function createTierRateLimitHooks(
  openBudget: OpenRequestBudget,
  limit: RateLimit
): TierRateLimitHooks {
  const budget = openBudgetOf(openBudget, limit)
  const spend = spenderOf(limit, budget)
  return {
    onRequest: (request, reply, done) => spend(request, reply, costOf(request), done),
    preValidation: (request, reply, done) => {
      const isCharged = request.headers['transfer-encoding'] === undefined || request.rawBody === null
      if (isCharged) return done()
      spend(request, reply, costOfBytes(request.rawBody?.length ?? 0), done)
    },
    takeNow: request => budget.takeNow(limit.callerOf(request)) === 0
  }
}

const openBudgetOf = (open: OpenRequestBudget, { name, perMinute, budget = name }: RateLimit) =>
  open(budget, perMinute)

function spenderOf({ name, perMinute, callerOf }: RateLimit, budget: RequestBudget) {
  const policy = `"${name}";q=${perMinute};w=60`

  return (request: FastifyRequest, reply: FastifyReply, cost: number, done: (error?: Error) => void) => {
    const end = (waitSeconds: number) => {
      if (waitSeconds === 0) return done()
      reply.header('ratelimit-policy', policy).header('ratelimit', `"${name}";r=0;t=${waitSeconds}`)
      done(rateLimitedError({ retryAfterSeconds: waitSeconds }))
    }
    // A request that costs more than a minute's limit needs the full budget, and takes all of it.
    const waitSeconds = budget.take(callerOf(request), Math.min(cost, perMinute))
    if (typeof waitSeconds === 'number') end(waitSeconds)
    else void waitSeconds.then(end)
  }
}

const costOfBytes = (bytes: number): number => Math.floor(bytes / BODY_BYTES_CHARGED_AS_REQUEST)
function costOf({ headers, routeOptions: { bodyLimit, config } }: FastifyRequest): number {
  const { countsAs = 1 } = config
  const bytes = Number(headers['content-length'] ?? 0)
  // A body above the route's limit is not read.
  return countsAs + (isStreamedBody(config.body) ? 0 : costOfBytes(Math.min(bytes, bodyLimit)))
}

/** Returns the network of a request: an IPv4 address, or the /64 of an IPv6 address. */
export const callerNetwork = (request: FastifyRequest): string => networkOfAddress(callerAddress(request))
export const callerUserIdOrAddress = (request: FastifyRequest): string =>
  request.identity?.userId ?? callerAddress(request)

/** Returns the address for rate limits: the shopper's, if a trusted shop front sent it. */
export const callerAddress = (request: FastifyRequest): string => request.shopperAddress ?? request.ip

/** Some proxies forward the port, which differs for each connection: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:(\d+(?:\.\d+){3}):\d+|\[([\da-f:.]+)\](?::\d+)?)$/i

/** A client with IPv6 has 2^64 addresses, so the network is counted: the first four groups. */
export function networkOfAddress(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const withPort = WITH_PORT.exec(address)
  if (withPort !== null) return networkOfAddress(withPort[1] ?? withPort[2] ?? '')
  const [head = '', tail] = address.split('::')
  const [first, last] = [head, tail ?? ''].map(part => part.split(':').filter(group => group !== ''))
  const missing = tail === undefined ? 0 : 8 - (first?.length ?? 0) - (last?.length ?? 0)
  const groups = [...(first ?? []), ...Array(Math.max(0, missing)).fill('0'), ...(last ?? [])]
  return `${groups.slice(0, 4).join(':')}::/64`
}
