import { randomUUID } from 'node:crypto'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RouteOptions
} from 'fastify'
import type { Config } from '../config.ts'
import { OperatorError } from '../kernel/errors.ts'
import * as idempotencyKeys from '../platform/idempotency-keys.ts'
import type { Platform } from '../platform/platform.ts'
import { limitBodyTime, limitConcurrency } from './admission.ts'
import { mountDiagnostics } from './diagnostics.ts'
import { disabledModuleAnswers } from './disabled-modules.ts'
import { missingHost, nulInUrl } from './errors.ts'
import { honourIdempotencyKeys } from './idempotency.ts'
import { type Authenticate, createIdentityCheck, requireAdmin } from './identity.ts'
import { parseJson } from './json.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { nodeServerOptions, refuseConnection, routeEveryRequest } from './node-server.ts'
import { collectOpenApi, mountOpenApi } from './openapi.ts'
import { handleError, sendUnknownRoute } from './problem.ts'
import { byAddress, byUser, limitRate } from './rate-limits.ts'
import { recordAnswer } from './records.ts'
import { allowedMethods, type MountedRoute, pathOf, routeProblems } from './routes.ts'
import type { Tier, Tiers } from './tiers.ts'
import { compileSerializer, compileValidator } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A tighter limit than the tier's, by address. */
    rateLimit?: 'login' | 'register'
    /** The handler reads the body itself as a stream: no fingerprint, hence no idempotency keys. */
    streamsBody?: boolean
  }
}

/** A module as the gateway sees it: what it is called, where it lives, and what it mounts when enabled. */
export type GatewayModule = {
  name: string
  basePaths: readonly string[]
  enabled: boolean
  routes?: ((tiers: Tiers) => void) | undefined
}
export type GatewayDeps = {
  platform: Platform
  modules: readonly GatewayModule[]
  authenticate: Authenticate
  version: string
}
export type Gateway = {
  app: FastifyInstance
  /** From now on `/readyz` answers 503, so that load balancers look elsewhere. */
  drain(): void
}

type Answers = {
  /** The body for a target that belongs to a module that is switched off. */
  disabledModule(target: string): { error: string } | undefined
  unknownRoute(request: FastifyRequest, reply: FastifyReply): void
}

const API_PREFIX = '/api'
const REQUEST_ID = /^[\w.:-]{1,128}$/
const PARAMETER_LENGTH_MAX = 256
// JSON is UTF-8 (RFC 8259, section 8.1); Fastify normalises parameters to `; name="value"`.
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:;(?!.*\bcharset="(?!utf-?8")).*)?$/i
const IDEMPOTENCY_SWEEP_SECONDS = 300

/** Builds the server: everything that is the same for all modules, then the modules' routes, each on its tier. */
export async function createGateway({
  platform,
  modules,
  authenticate,
  version
}: GatewayDeps): Promise<Gateway> {
  const { config, db, cache, jobs } = platform
  const metrics = createMetrics({ db, cache })
  const mounted: MountedRoute[] = []
  const app = createServer(platform, metrics, {
    disabledModule: disabledModuleAnswers(modules),
    unknownRoute: (request, reply) => sendUnknownRoute(reply, allowedMethods(mounted, pathOf(request.url)))
  })
  let isDraining = false
  let owner: string | null = null
  app.addHook('onRoute', ({ method, url, prefix }) => {
    mounted.push({ method, url, owner, hasTier: prefix === API_PREFIX })
  })
  await collectOpenApi(app, version)
  mountDiagnostics(app, { db, cache, metrics, isDraining: () => isDraining })
  const tiers = await createTiers(app, config, authenticate, honourIdempotencyKeys(db))
  for (const module of modules.filter(each => each.enabled)) {
    owner = module.name
    module.routes?.(tiers)
  }
  owner = null
  mountOpenApi(app)
  await app.ready()

  const problems = routeProblems(mounted, modules)
  if (problems.length > 0) throw new OperatorError(`Routes are mounted wrongly:\n  ${problems.join('\n  ')}`)
  jobs.sweep(IDEMPOTENCY_SWEEP_SECONDS, 'delete expired idempotency keys', () =>
    idempotencyKeys.deleteExpired(db)
  )
  return {
    app,
    drain: () => {
      isDraining = true
    }
  }
}

function createServer({ config, log }: Platform, metrics: Metrics, answers: Answers): FastifyInstance {
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost 2 us of it; lines about a request name it themselves.
    childLoggerFactory: logger => logger,
    genReqId: request => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // The address that the proxy itself saw: what stands further left in X-Forwarded-For is what the client claims.
    trustProxy: config.server.trust_proxy && ((_address, hop) => hop === 0),
    bodyLimit: config.server.body_bytes_max,
    requestTimeout: 300_000, // of a whole request, uploads of large files among them
    keepAliveTimeout: 72_000,
    http: nodeServerOptions,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    clientErrorHandler: refuseConnection,
    // Targets that the router cannot even look up. No hook runs for them.
    frameworkErrors: (error, raw, reply) => {
      const request = raw as FastifyRequest
      return begin(request, reply as FastifyReply) ?? handleError(error, request, reply as FastifyReply)
    }
  }) as unknown as FastifyInstance

  /** What every request gets before anything of it is looked at; for modules switched off that is the answer. */
  const begin = (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    reply.header('x-request-id', request.id)
    recordAnswer(request, reply, metrics)
    const disabled = answers.disabledModule(request.url)
    return disabled && reply.code(503).send(disabled)
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (begin(request, reply) !== undefined) return
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') return done(missingHost())
    if (request.url.includes('%00')) return done(nulInUrl())
    if (request.is404) answers.unknownRoute(request, reply)
    else done()
  })

  app.setValidatorCompiler(compileValidator as never)
  app.setSerializerCompiler(compileSerializer as never)
  app.setErrorHandler(handleError)
  app.decorateRequest('identity', null)
  app.decorateRequest('idempotency', null)
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      request.rawBody = body as Buffer
      done(null, parseJson(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  routeEveryRequest(app)
  return app
}

/** The three groups under `/api`: admission, then who is asking, then how often. */
async function createTiers(
  app: FastifyInstance,
  config: Config,
  authenticate: Authenticate,
  addIdempotency: (route: RouteOptions) => void
): Promise<Tiers> {
  const limits = config.rate_limit
  const limit = (name: string, perMinute: number, callerOf: (request: FastifyRequest) => string) =>
    limits.enabled ? limitRate({ name, perMinute, callerOf }) : undefined
  const onRequest = (scope: FastifyInstance, hook: ReturnType<typeof limit>) => {
    if (hook !== undefined) scope.addHook('onRequest', hook)
  }
  const tighter = {
    login: limit('login', limits.login_per_minute, byAddress),
    register: limit('register', limits.register_per_minute, byAddress)
  }
  const scopes: Partial<Record<keyof Tiers, FastifyInstance>> = {}

  await app.register(
    async api => {
      limitConcurrency(api, config.server.concurrent_requests_max)
      api.addHook('onRoute', limitBodyTime(config.server.body_seconds))
      api.addHook('onRoute', addIdempotency)
      api.addHook('onRoute', route => {
        const hook = route.config?.rateLimit && tighter[route.config.rateLimit]
        if (hook) route.onRequest = [hook, ...[route.onRequest ?? []].flat()]
      })
      await api.register(async open => {
        onRequest(open, limit('public', limits.public_per_minute, byAddress))
        scopes.public = open
      })
      await api.register(async known => {
        const check = createIdentityCheck(authenticate)
        const limitFailures = limit('unauthenticated', limits.public_per_minute, byAddress)
        known.addHook('onRequest', (request, reply, done) =>
          check(request, reply, failure => {
            if (failure === undefined || limitFailures === undefined) return done(failure)
            limitFailures(request, reply, limited => done(limited ?? failure))
          })
        )
        known.addHook('onRoute', route => {
          route.schema = { ...route.schema, security: [{ bearer: [] }] }
        })
        await known.register(async secured => {
          onRequest(secured, limit('secured', limits.secured_per_minute, byUser))
          scopes.secured = secured
        })
        await known.register(async admin => {
          admin.addHook('onRequest', requireAdmin)
          onRequest(admin, limit('admin', limits.admin_per_minute, byUser))
          scopes.admin = admin
        })
      })
    },
    { prefix: API_PREFIX }
  )
  // A plugin registered now would be mounted beside the tier, and not behind its checks.
  const register = () => {
    throw new Error('routes are mounted on a tier directly, not by a plugin')
  }
  for (const scope of Object.values(scopes)) Object.defineProperty(scope, 'register', { value: register })
  return { ...scopes, wellKnown: app as unknown as Tier } as unknown as Tiers
}
