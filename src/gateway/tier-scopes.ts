import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Config } from '../config.ts'
import type { Visits } from './admission/visits.ts'
import {
  type Authenticate,
  createIdentityCheck,
  type Revocations,
  requireAdmin,
  requirePerson,
  requireScope,
  requireSecondFactor
} from './callers/identity.ts'
import {
  byAddress,
  byUser,
  limitRate,
  limitRateAndBytes,
  type RateAndBytesLimit
} from './callers/rate-limits.ts'
import type { Shoppers } from './callers/shoppers.ts'
import { declareCaching, tagPublicAnswers } from './routing/answer-headers.ts'
import { withAnswer } from './routing/answers.ts'
import { BYTES_MAX, kindOf, openBodyScopes, withBody } from './routing/bodies.ts'
import { type BodyBounds, boundsOf } from './routing/body-bounds.ts'
import { nameFiles } from './routing/files.ts'
import { addLinks } from './routing/links.ts'
import type { ModuleHeaders, RouteConfig, RouteLimit, Tier, Tiers } from './routing/tiers.ts'
import { requireRecentLogin } from './writes/recent-login.ts'
import { refuseUnreadConditions } from './writes/write.ts'

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteConfig> {
    /** The module that mounted the route; none for the gateway's own. */
    owner?: string
    /** For a JSON body. */
    bounds?: BodyBounds
    /** It always answers: no limit applies to it. */
    isDiagnostic?: true
  }
}

export type TierDeps = {
  config: Config
  authenticate: Authenticate
  headers: ModuleHeaders
  revocations?: Revocations | undefined
  /** Whether something that is switched off covers this path: no route is mounted there. */
  isDisabled: (path: string) => boolean
  addIdempotency: (route: RouteOptions) => void
  addAudit: (route: RouteOptions) => void
  /** For the tiers of shoppers. */
  refuseChanges: (route: RouteOptions) => void
  visits: Visits
  shoppers: Shoppers
  /** By address, of the public tier and of everything outside the tiers; `undefined` when limits are off. */
  publicLimit: RateAndBytesLimit | undefined
}
type CallerOf = (request: FastifyRequest) => string
type Hook = ReturnType<typeof limitRate>

export const API_PREFIX = '/api'

/**
 * The groups that routes are mounted on: who is asking, how often, and then admission. They are handed out to one
 * module at a time, so that each route knows whose it is.
 */
export async function createTiers(
  app: FastifyInstance,
  { config, authenticate, revocations, headers, isDisabled, ...rest }: TierDeps
): Promise<(owner: string) => Tiers> {
  const { addIdempotency, addAudit, refuseChanges, visits, shoppers, publicLimit } = rest
  const limits = config.rate_limit
  const limit = (name: string, perMinute: number, callerOf: CallerOf): Hook | undefined =>
    limits.enabled ? limitRate({ name, perMinute, callerOf }) : undefined
  const ofUsers = (name: string, perMinute: number) =>
    limits.enabled ? limitRateAndBytes({ name, perMinute, callerOf: byUser }) : undefined
  const budgets = new Map<string, { perMinute: number; hook: Hook | undefined }>()
  /** The budget of a route, which others of its module may name too. */
  const budget = (owner: string, { name, perMinute }: RouteLimit, callerOf: CallerOf) => {
    const key = `${owner}.${name}`
    const known = budgets.get(key) ?? { perMinute, hook: limit(name, perMinute, callerOf) }
    if (known.perMinute !== perMinute) throw new Error(`the limit ${key} has two sizes`)
    budgets.set(key, known)
    return known.hook
  }

  const makers: Partial<Record<keyof Tiers, (owner: string) => Tier>> = {}
  const addTier = async (name: keyof Tiers, scope: FastifyInstance, callerOf: CallerOf): Promise<void> => {
    const scopes = await openBodyScopes(scope)
    makers[name] = owner =>
      verbs((method, url, { config: own = {}, ...options }, handler) => {
        if (isDisabled(scope.prefix + url)) return
        if (own.cache === 'public' && name !== 'public' && name !== 'wellKnown')
          throw new Error(`what ${url} answers depends on who asks: no cache may keep it`)
        const bounds = kindOf(own.body) === 'json' ? boundsIn(config, options.schema?.body) : undefined
        const hook = own.limit && onlyWithout(own.limit.without, budget(owner, own.limit, callerOf))
        const route = withBody(own.body, withAnswer({ ...options, method, url, handler }))
        if (hook) route.onRequest = [hook, ...[route.onRequest ?? []].flat()]
        scopes[kindOf(own.body)].route({
          ...route,
          exposeHeadRoute: false,
          bodyLimit: bounds?.bytesMax ?? BYTES_MAX,
          config: { ...own, owner, ...(bounds && { bounds }) } as never
        })
      })
  }

  await app.register(async scope => {
    tagPublicAnswers(scope)
    await addTier('wellKnown', scope, byAddress)
  })
  await app.register(
    async api => {
      declareCaching(api, config, headers)
      api.addHook('onRoute', addLinks())
      api.addHook('onRoute', nameFiles)
      api.addHook('onRequest', shoppers.note)
      visits.guard(api)
      api.addHook('onRoute', addIdempotency)
      api.addHook('onRoute', refuseUnreadConditions)
      await api.register(async open => {
        open.addHook('onRoute', refuseChanges)
        limitTier(open, publicLimit)
        await addTier('public', open, byAddress)
      })
      await api.register(async known => {
        const check = createIdentityCheck(authenticate, revocations)
        const limitFailures = limit('unauthenticated', limits.public_per_minute, byAddress)
        known.addHook('onRequest', (request, reply, done) =>
          check(request, reply, failure => {
            if (failure === undefined || limitFailures === undefined) return done(failure)
            limitFailures(request, reply, limited => done(limited ?? failure))
          })
        )
        known.addHook('onRequest', requireSecondFactor)
        known.addHook('onRoute', route => {
          if (route.config?.recentLogin)
            route.preHandler = [...[route.preHandler ?? []].flat(), requireRecentLogin]
          route.schema = { ...route.schema, security: [{ bearer: [] }] }
        })
        await known.register(async secured => {
          secured.addHook('onRequest', requirePerson)
          secured.addHook('onRoute', refuseChanges)
          limitTier(secured, ofUsers('secured', limits.secured_per_minute))
          await addTier('secured', secured, byUser)
        })
        await known.register(async admin => {
          admin.addHook('onRequest', requireAdmin)
          // The roles that it takes (OpenAPI 3.1, Security Requirement Object).
          admin.addHook('onRoute', route => {
            route.schema = { ...route.schema, security: [{ bearer: ['admin'] }] }
          })
          admin.addHook('onRoute', route => {
            const checks = route.config?.forPeople ? [requireScope, requirePerson] : [requireScope]
            route.onRequest = [...checks, ...[route.onRequest ?? []].flat()]
          })
          // In front of what was added before: who lacks the scope is written down, too.
          admin.addHook('onRoute', addAudit)
          limitTier(admin, ofUsers('admin', limits.admin_per_minute))
          await addTier('admin', admin, byUser)
        })
      })
    },
    { prefix: API_PREFIX }
  )
  return owner =>
    Object.fromEntries(Object.entries(makers).map(([name, make]) => [name, make(owner)])) as Tiers
}

function limitTier(scope: FastifyInstance, limit: RateAndBytesLimit | undefined): void {
  if (limit === undefined) return
  scope.addHook('onRequest', limit.onRequest)
  scope.addHook('preValidation', limit.preValidation)
}

/** The bounds of a JSON body, within the limit that the operator has set for all. */
function boundsIn({ server }: Config, schema: unknown): BodyBounds {
  const bounds = boundsOf(schema as object | undefined)
  return { ...bounds, bytesMax: Math.min(bounds.bytesMax, server.body_bytes_max) }
}

/** The limit, for requests that lack this header. */
function onlyWithout(header: string | undefined, hook: Hook | undefined): Hook | undefined {
  if (header === undefined || hook === undefined) return hook
  return (request, reply, done) =>
    request.headers[header] === undefined ? hook(request, reply, done) : done()
}

type RouteParts = Pick<RouteOptions, 'schema' | 'onRequest' | 'preHandler'> & {
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
    // One route: of those that Fastify makes for HEAD by itself, a hundred take 10 ms of a start (2026-11).
    get: verb(['GET', 'HEAD']),
    post: verb('POST'),
    put: verb('PUT'),
    patch: verb('PATCH'),
    delete: verb('DELETE')
  }
  return all as unknown as Tier
}
