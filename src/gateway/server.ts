import { randomUUID } from 'node:crypto'
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type RouteOptions
} from 'fastify'
import type { Config } from '../config.ts'
import { OperatorError } from '../kernel/errors.ts'
import * as idempotencyKeys from '../platform/idempotency-keys.ts'
import type { Platform } from '../platform/platform.ts'
import { mountDiagnostics } from './diagnostics.ts'
import { mountDisabledModules } from './disabled-modules.ts'
import { malformedRequest, overloaded } from './errors.ts'
import { honourIdempotencyKeys } from './idempotency.ts'
import { type Authenticate, createIdentityCheck, requireAdmin } from './identity.ts'
import { parseJson } from './json.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { collectOpenApi, mountOpenApi } from './openapi.ts'
import { handleError, httpProblems, problemBody, sendProblem } from './problem.ts'
import { byAddress, byUser, limitRate } from './rate-limits.ts'
import { allowedMethods, checkBasePaths, type MountedRoute } from './routes.ts'
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

const REQUEST_ID = /^[\w.:-]{1,128}$/
const PARAMETER_LENGTH_MAX = 256
const OVERLOAD_RETRY_SECONDS = 1
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
  const app = createServer(config, platform, metrics)
  let isDraining = false

  const mounted: MountedRoute[] = []
  let owner: string | null = null
  app.addHook('onRoute', route => {
    mounted.push({ method: route.method, url: route.url, owner })
  })
  await collectOpenApi(app, version)
  mountDiagnostics(app, { db, cache, metrics, isDraining: () => isDraining })
  mountDisabledModules(
    app,
    modules.filter(module => !module.enabled)
  )
  const tiers = await createTiers(app, config, authenticate, honourIdempotencyKeys(db))
  for (const module of modules.filter(each => each.enabled)) {
    owner = module.name
    module.routes?.(tiers)
  }
  owner = null
  mountOpenApi(app)
  answerUnknownRoutes(app, mounted)
  await app.ready()

  const problems = checkBasePaths(mounted, modules)
  if (problems.length > 0) throw new OperatorError(`Routes are mounted wrongly:\n  ${problems.join('\n  ')}`)
  jobs.every(IDEMPOTENCY_SWEEP_SECONDS, 'delete expired idempotency keys', () =>
    idempotencyKeys.deleteExpired(db)
  )
  return {
    app,
    drain: () => {
      isDraining = true
    }
  }
}

function createServer(config: Config, { log }: Platform, metrics: Metrics): FastifyInstance {
  const app = fastify({
    loggerInstance: log,
    disableRequestLogging: true,
    genReqId: request => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    trustProxy: config.server.trust_proxy,
    bodyLimit: config.server.body_bytes_max,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    frameworkErrors: (error, _request, reply) =>
      sendProblem(reply as FastifyReply, { status: 400, code: malformedRequest.code, detail: error.message }),
    clientErrorHandler: (error, socket) => {
      if (!socket.writable || error.code === 'ECONNRESET') {
        socket.destroy()
        return
      }
      const body = problemBody(
        { status: 400, code: malformedRequest.code, detail: 'This is not HTTP.' },
        randomUUID()
      )
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${body.length}`
      socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`)
    }
  }) as unknown as FastifyInstance

  app.setValidatorCompiler(compileValidator as never)
  app.setSerializerCompiler(compileSerializer as never)
  app.setErrorHandler(handleError)
  app.decorateRequest('identity', null)
  app.decorateRequest('idempotency', null)
  app.decorateRequest('rawBody', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/(?:[\w.-]+\+)?json(?:;|$)/,
    { parseAs: 'buffer' },
    (request, body, done) => {
      try {
        request.rawBody = body as Buffer
        done(null, parseJson(body as Buffer))
      } catch (error) {
        done(error as Error)
      }
    }
  )
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    const milliseconds = reply.elapsedTime
    metrics.observe(request.method, route, reply.statusCode, milliseconds / 1_000)
    log.info(requestLine(request, reply, route, milliseconds))
    done()
  })
  return app
}

function requestLine(request: FastifyRequest, reply: FastifyReply, route: string, milliseconds: number) {
  const line = {
    req_id: request.id,
    method: request.method,
    route,
    status: reply.statusCode,
    ms: Math.round(milliseconds * 1_000) / 1_000,
    user: request.identity?.userId
  }
  // The trace that a caller or proxy began (W3C Trace Context), so that its lines can be found again.
  const trace = request.headers.traceparent
  return trace === undefined ? line : { ...line, trace }
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
      admit(api, config.server.concurrent_requests_max)
      api.addHook('onRoute', addIdempotency)
      api.addHook('onRoute', route => {
        const hook = route.config?.rateLimit && tighter[route.config.rateLimit]
        if (hook) route.onRequest = [hook, ...[route.onRequest ?? []].flat()]
      })
      await api.register(async open => {
        onRequest(open, limit('public', limits.public_per_minute, byAddress))
        scopes.public = open
      })
      await api.register(async secured => {
        const check = createIdentityCheck(authenticate)
        const limitFailures = limit('unauthenticated', limits.public_per_minute, byAddress)
        secured.addHook('onRequest', (request, reply, done) =>
          check(request, reply, failure => {
            if (failure === undefined || limitFailures === undefined) return done(failure)
            limitFailures(request, reply, limited => done(limited ?? failure))
          })
        )
        secured.addHook('onRoute', route => {
          route.schema = { ...route.schema, security: [{ bearer: [] }] }
        })
        scopes.secured = secured
        await secured.register(async admin => {
          admin.addHook('onRequest', requireAdmin)
          onRequest(admin, limit('admin', limits.admin_per_minute, byUser))
          scopes.admin = admin
        })
        // Behind the registration of the admin scope, which inherits only what came before: it has its own limit.
        onRequest(secured, limit('secured', limits.secured_per_minute, byUser))
      })
    },
    { prefix: '/api' }
  )
  return { ...scopes, wellKnown: app as unknown as Tier } as unknown as Tiers
}

/** Answers 503 at once when too much is under way: what is accepted is finished. */
function admit(api: FastifyInstance, concurrentMax: number): void {
  const admitted = new WeakSet<FastifyRequest>()
  let underWay = 0
  api.addHook('onRequest', (request, _reply, done) => {
    if (underWay >= concurrentMax) return done(overloaded({ retryAfterSeconds: OVERLOAD_RETRY_SECONDS }))
    underWay += 1
    admitted.add(request)
    done()
  })
  api.addHook('onResponse', (request, _reply, done) => {
    if (admitted.has(request)) underWay -= 1
    done()
  })
}

function answerUnknownRoutes(app: FastifyInstance, mounted: readonly MountedRoute[]): void {
  app.setNotFoundHandler((request, reply) => {
    const allowed = allowedMethods(mounted, request.url)
    if (allowed.length === 0) return sendProblem(reply, httpProblems.ROUTE_NOT_FOUND)
    reply.header('allow', allowed.join(', '))
    return sendProblem(reply, httpProblems.METHOD_NOT_ALLOWED)
  })
}
