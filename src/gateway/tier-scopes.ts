import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { ReadResourceFields } from '../kernel/resources.ts'
import type { OpenRequestBudget } from '../kernel/shared-request-budgets.ts'
import type { Config } from '../platform/core-settings.ts'
import type { Transaction } from '../platform/postgres/database.ts'
import type { RequestSlots } from './admission/request-slots.ts'
import {
  createAuthenticationHook,
  rejectDisallowedApiKey,
  requireAdmin,
  requireScope,
  requireSecondFactorOfAdmin,
  type TokenRevocationSource,
  type VerifyBearerToken
} from './callers/identity.ts'
import {
  callerNetwork,
  callerUserIdOrAddress,
  createRateLimitHook,
  createTierRateLimitHooks,
  type TierRateLimitHooks
} from './callers/rate-limits.ts'
import type { ShopperAddressReader } from './callers/shopper-addresses.ts'
import type { KeptResponses } from './kept-responses.ts'
import { computeBodyBoundsOfSchema, type JsonBodySizeBounds } from './routing/body-bounds.ts'
import {
  bodyKindName,
  createBodyKindScopes,
  RAW_BODY_BYTES_MAX,
  withStreamedBody
} from './routing/body-kinds.ts'
import { addCsvFileName } from './routing/csv-downloads.ts'
import { addLocationAndLinkHeaders } from './routing/link-headers.ts'
import { withResourceFields } from './routing/resource-fields.ts'
import { withDefaultStatusAndEtag } from './routing/response-defaults.ts'
import { cachePublicResponses, setCacheHeadersOfScope } from './routing/response-headers.ts'
import type { ModuleRequestHeaders, RouteConfig, RouteLimit, Tier, Tiers } from './routing/tiers.ts'
import { requireRecentLogin } from './writes/recent-login.ts'
import { rejectUnusedIfMatch } from './writes/write.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {
    /** The module that mounted the route; absent for routes of the gateway. */
    owner?: string
    /** Of a JSON body. */
    bounds?: JsonBodySizeBounds
    /** Whether the route is a diagnostic endpoint, which has no rate limit. */
    isDiagnostic?: true
  }
}

export type RouteTierDeps = {
  config: Config
  authenticate: VerifyBearerToken
  headers: ModuleRequestHeaders
  revocations?: TokenRevocationSource | undefined
  /** Whether the path belongs to a disabled module, so that no route is mounted there. */
  isDisabled: (path: string) => boolean
  addIdempotency: (route: RouteOptions) => void
  addAudit: (route: RouteOptions) => void
  /** Rejects changes by customers and guests, such as during maintenance. */
  refuseChanges: (route: RouteOptions) => void
  slots: RequestSlots
  shopperAddresses: ShopperAddressReader
  /** Limit by address, for the public tier and for requests outside the tiers; `undefined` when limits are off. */
  publicLimit: TierRateLimitHooks | undefined
  keptResponses: KeptResponses
  openBudget: OpenRequestBudget
  fieldsOf: ReadResourceFields<Transaction>
}
type CallerOf = (request: FastifyRequest) => string
type Hook = ReturnType<typeof createRateLimitHook>

export const API_PREFIX = '/api'

/**
 * Creates the tiers on which modules mount routes. Each applies authentication, rate limits and admission. The returned
 * function gives a module its own tiers, so that each route is mounted with the name of its module.
 */
export async function createRouteTiers(
  app: FastifyInstance,
  { config, authenticate, revocations, headers, isDisabled, ...rest }: RouteTierDeps
): Promise<(owner: string) => Tiers> {
  const { addIdempotency, addAudit, refuseChanges, slots, shopperAddresses, publicLimit, fieldsOf } = rest
  const { keptResponses, openBudget } = rest
  const limits = config.rate_limit
  const limit = (name: string, perMinute: number, callerOf: CallerOf, budget = name): Hook | undefined =>
    limits.enabled ? createRateLimitHook(openBudget, { name, perMinute, callerOf, budget }) : undefined
  const ofUsers = (name: string, perMinute: number) =>
    limits.enabled
      ? createTierRateLimitHooks(openBudget, { name, perMinute, callerOf: callerUserIdOrAddress })
      : undefined
  const budgets = new Map<string, { perMinute: number; hook: Hook | undefined }>()
  /** The budget of a route. Routes of one module share it by naming it. */
  const budget = (owner: string, { name, perMinute }: RouteLimit, callerOf: CallerOf) => {
    const key = `${owner}.${name}`
    const known = budgets.get(key) ?? { perMinute, hook: limit(name, perMinute, callerOf, key) }
    if (known.perMinute !== perMinute)
      throw new Error(`the limit ${key} is declared with two values of perMinute`)
    budgets.set(key, known)
    return known.hook
  }

  const makers: Partial<Record<keyof Tiers, (owner: string) => Tier>> = {}
  const addTier = async (name: keyof Tiers, scope: FastifyInstance, callerOf: CallerOf): Promise<void> => {
    const scopes = await createBodyKindScopes(scope)
    makers[name] = owner =>
      verbs((method, url, { config: own = {}, ...parts }, handler) => {
        if (isDisabled(scope.prefix + url)) return
        const options = withResourceFields(parts, fieldsOf)
        if (own.cache === 'public' && name !== 'public' && name !== 'wellKnown')
          throw new Error(`the response of ${url} depends on the caller, so it cannot have cache: 'public'`)
        const bounds = bodyKindName(own.body) === 'json' ? boundsIn(config, options.schema?.body) : undefined
        const hook = own.limit && onlyWithout(own.limit.without, budget(owner, own.limit, callerOf))
        const route = withStreamedBody(
          own.body,
          withDefaultStatusAndEtag({ ...options, method, url, handler })
        )
        if (hook) route.onRequest = [hook, ...[route.onRequest ?? []].flat()]
        scopes[bodyKindName(own.body)].route({
          ...route,
          exposeHeadRoute: false,
          bodyLimit: bounds?.bytesMax ?? RAW_BODY_BYTES_MAX,
          config: { ...own, owner, ...(bounds && { bounds }) } as never
        })
      })
  }

  await app.register(async scope => {
    cachePublicResponses(scope)
    await addTier('wellKnown', scope, callerNetwork)
  })
  await app.register(
    async api => {
      setCacheHeadersOfScope(api, config, { ...headers, keep: keptResponses.keep })
      api.addHook('onRoute', addLocationAndLinkHeaders())
      api.addHook('onRoute', addCsvFileName)
      api.addHook('onRequest', shopperAddresses.setShopperAddress)
      slots.addHooks(api)
      api.addHook('onRoute', addIdempotency)
      api.addHook('onRoute', rejectUnusedIfMatch)
      await api.register(async open => {
        open.addHook('onRoute', refuseChanges)
        limitTier(open, publicLimit)
        await addTier('public', open, callerNetwork)
      })
      await api.register(async authenticated => {
        const checkIdentity = createAuthenticationHook(authenticate, revocations)
        const limitFailures = limit('unauthenticated', limits.public_per_minute, callerNetwork)
        authenticated.addHook('onRequest', (request, reply, done) =>
          checkIdentity(request, reply, failure => {
            if (failure === undefined || limitFailures === undefined) return done(failure)
            limitFailures(request, reply, limited => done(limited ?? failure))
          })
        )
        authenticated.addHook('onRequest', requireSecondFactorOfAdmin)
        authenticated.addHook('onRoute', route => {
          if (route.config?.recentLogin)
            route.preHandler = [...[route.preHandler ?? []].flat(), requireRecentLogin]
          route.schema = { ...route.schema, security: [{ bearer: [] }] }
        })
        await authenticated.register(async secured => {
          secured.addHook('onRequest', rejectDisallowedApiKey)
          secured.addHook('onRoute', refuseChanges)
          limitTier(secured, ofUsers('secured', limits.secured_per_minute))
          await addTier('secured', secured, callerUserIdOrAddress)
        })
        await authenticated.register(async admin => {
          admin.addHook('onRequest', requireAdmin)
          // Required roles (OpenAPI 3.1, Security Requirement Object).
          admin.addHook('onRoute', route => {
            route.schema = { ...route.schema, security: [{ bearer: ['admin'] }] }
          })
          admin.addHook('onRoute', route => {
            const checks = route.config?.isUsersOnly ? [requireScope, rejectDisallowedApiKey] : [requireScope]
            route.onRequest = [...checks, ...[route.onRequest ?? []].flat()]
          })
          // The audit hook runs before the hooks above, so that requests without the scope are recorded too.
          admin.addHook('onRoute', addAudit)
          limitTier(admin, ofUsers('admin', limits.admin_per_minute))
          await addTier('admin', admin, callerUserIdOrAddress)
        })
      })
    },
    { prefix: API_PREFIX }
  )
  return owner =>
    Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, make(owner)])) as Tiers
}

function limitTier(scope: FastifyInstance, limit: TierRateLimitHooks | undefined): void {
  if (limit === undefined) return
  scope.addHook('onRequest', limit.onRequest)
  scope.addHook('preValidation', limit.preValidation)
}

/** Returns the bounds of a JSON body, capped by the operator's limit for all bodies. */
function boundsIn({ server }: Config, schema: unknown): JsonBodySizeBounds {
  const bounds = computeBodyBoundsOfSchema(schema as object | undefined)
  return { ...bounds, bytesMax: Math.min(bounds.bytesMax, server.body_bytes_max) }
}

/** Returns the rate limit `hook`, applied only to requests without this header. */
function onlyWithout(header: string | undefined, hook: Hook | undefined): Hook | undefined {
  if (header === undefined || hook === undefined) return hook
  return (request, reply, done) =>
    request.headers[header] === undefined ? hook(request, reply, done) : done()
}

type RouteParts = Pick<RouteOptions, 'schema' | 'onRequest' | 'preHandler' | 'preSerialization'> & {
  config?: Partial<RouteConfig>
}
type Mount = (
  method: string | string[],
  url: string,
  parts: RouteParts,
  handler: RouteOptions['handler']
) => void

function verbs(mount: Mount): Tier {
  const verb =
    (method: string | string[]) =>
    (...[url, parts, handler]: [string, RouteParts, RouteOptions['handler']]) =>
      mount(method, url, parts, handler)
  const all = {
    // One route for both: a hundred separate HEAD routes of Fastify add 10 ms to a start (2026-11).
    get: verb(['GET', 'HEAD']),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    delete: verb('DELETE')
  }
  return all as unknown as Tier
}
