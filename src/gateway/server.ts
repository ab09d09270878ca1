import { randomUUID } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import { OperatorError } from '../kernel/errors.ts'
import { deleteOldAudit } from '../platform/audit.ts'
import { createKeyClaims } from '../platform/idempotency/claims.ts'
import { deleteExpiredKeys } from '../platform/idempotency/keys.ts'
import { withoutInfo } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { createClassTable } from './admission/request-classes.ts'
import { createVisits, type Visits } from './admission/visits.ts'
import type { Authenticate, Revocations } from './callers/identity.ts'
import { limitPages } from './callers/page-limits.ts'
import { byAddress, limitRateAndBytes } from './callers/rate-limits.ts'
import { createShoppers, type Shoppers } from './callers/shoppers.ts'
import { mountDiagnostics } from './diagnostics/endpoints.ts'
import { createMetrics, type Metrics } from './diagnostics/metrics.ts'
import { type DiagnosticsPort, openDiagnosticsPort } from './diagnostics/port.ts'
import { recordAnswer } from './diagnostics/records.ts'
import type { Connections } from './door/connections.ts'
import { createCors } from './door/cors.ts'
import { createHostCheck } from './door/development.ts'
import { createDoor } from './door/door.ts'
import { prepareDraining } from './door/draining.ts'
import { createIntake } from './door/intake.ts'
import { createNodeServer, refuseConnection } from './door/node-server.ts'
import { createUncaughtHandler } from './door/uncaught.ts'
import { endWithUnreadBody } from './door/unread-bodies.ts'
import { missingHost, nulInUrl } from './errors.ts'
import { collectOpenApi } from './openapi/document.ts'
import { mountPages, type Pages } from './pages/pages.ts'
import { handleError, sendHostNotServed, sendUnknownRoute } from './problem.ts'
import { commonHeaders } from './routing/answer-headers.ts'
import { boundsOf } from './routing/body-bounds.ts'
import { disabledModuleAnswers, type Switchable } from './routing/disabled-modules.ts'
import { parseJson } from './routing/json.ts'
import { createAllowedMethods, type MountedRoute, pathOf, routeProblems } from './routing/routes.ts'
import type { ModuleHeaders, Tiers } from './routing/tiers.ts'
import { compileSerializer, compileValidator } from './routing/validation.ts'
import { API_PREFIX, createTiers } from './tier-scopes.ts'
import { auditUnsafeRequests } from './writes/audit.ts'
import { honourIdempotencyKeys } from './writes/idempotency.ts'
import { type Refusal, refuseChanges } from './writes/maintenance.ts'

/** A module as the gateway sees it: what it is called, where it lives, and what it mounts when enabled. */
export type GatewayModule = {
  name: string
  basePaths: readonly string[]
  enabled: boolean
  /** Parts of it that have switches of their own. */
  parts?: readonly Switchable[]
  routes?: ((tiers: Tiers) => void) | undefined
  /** What shoppers are told who want to change something just now; `undefined` when they may. */
  refusal?: Refusal | undefined
} & Partial<ModuleHeaders>
export type GatewayDeps = {
  platform: Platform
  modules: readonly GatewayModule[]
  authenticate: Authenticate
  revocations?: Revocations | undefined
  version: string
} & Pages
export type Gateway = {
  app: FastifyInstance
  /** The document of the API, whether or not it is served. */
  document(): Promise<string>
  /** Whether `/readyz` answers 503 although requests are served: while the first start fills the shop. */
  hold(isHeld: boolean): void
  /** From now on `/readyz` answers 503, so that load balancers look elsewhere, and each answer ends its connection. */
  drain(): void
  /** For errors that nobody catches; `stop` ends the process in order. */
  onUncaught: ReturnType<typeof createUncaughtHandler>
}

type Answers = {
  /** The body for a target that belongs to a module that is switched off. */
  disabledModule(target: string): { error: string } | undefined
  unknownRoute(request: FastifyRequest, reply: FastifyReply): void
}
type ClassOf = ReturnType<typeof createClassTable>
type ServerParts = {
  metrics: Metrics
  requestHeaders: readonly string[]
  visits: Visits
  shoppers: Shoppers
  answers: Answers
  classOf: ClassOf
  isDraining: () => boolean
  /** Limits what no tier limits. */
  limit: ReturnType<typeof limitPages>
}

const REQUEST_ID = /^[\w.:-]{1,128}$/
const PARAMETER_LENGTH_MAX = 256
// JSON is UTF-8 (RFC 8259, section 8.1); Fastify normalises parameters to `; name="value"`.
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:;(?!.*\bcharset="(?!utf-?8")).*)?$/i
const SWEEP_SECONDS = 300

const isDiagnostic = ({ routeOptions }: FastifyRequest) => routeOptions.config.isDiagnostic === true

/** Builds the server: everything that is the same for all modules, then the modules' routes, each on its tier. */
export async function createGateway({
  platform,
  modules,
  authenticate,
  revocations,
  version,
  ...pages
}: GatewayDeps): Promise<Gateway> {
  const { config, db, cache, chores } = platform
  const metrics = createMetrics(platform.metrics, platform.durations)
  const visits = createVisits({ config, metrics: platform.metrics })
  const shoppers = createShoppers(config.server)
  const { enabled: hasLimits, public_per_minute: perMinute } = config.rate_limit
  const publicLimit = hasLimits
    ? limitRateAndBytes({ name: 'public', perMinute, callerOf: byAddress })
    : undefined
  const mounted: MountedRoute[] = []
  let classOf: ClassOf = () => undefined
  let allowedMethods: ReturnType<typeof createAllowedMethods> = () => []
  const headers: ModuleHeaders = {
    // Several modules may take the same one.
    capabilities: [...new Set(modules.flatMap(module => module.capabilities ?? []))],
    contexts: [...new Set(modules.flatMap(module => module.contexts ?? []))]
  }
  const disabledModule = disabledModuleAnswers(modules)
  const app = createServer(platform, {
    metrics,
    requestHeaders: [...headers.capabilities, ...headers.contexts],
    visits,
    shoppers,
    classOf: (method, target) => classOf(method, target),
    isDraining: () => draining.isDraining(),
    limit: limitPages(publicLimit?.onRequest),
    answers: {
      disabledModule,
      unknownRoute: (request, reply) => sendUnknownRoute(reply, allowedMethods(pathOf(request.url)))
    }
  })
  let port: DiagnosticsPort | undefined
  const draining = prepareDraining(app, isHeld => port?.hold(isHeld))
  app.addHook('onRoute', ({ method, url, prefix, config }) => {
    const owner = config?.owner ?? null
    const lacks = config?.bounds?.missing ?? []
    mounted.push({ method, url, owner, class: config?.class ?? null, hasTier: prefix === API_PREFIX, lacks })
  })
  const writeDocument = collectOpenApi(app, version)
  mountDiagnostics(app, {
    ...{ db, cache, metrics, isHeld: draining.isHeld },
    hasPrivateMetrics: config.server.private_metrics
  })
  const claims = createKeyClaims(db)
  app.addHook('onClose', () => claims.close())
  const tiersOf = await createTiers(app, {
    config,
    authenticate,
    headers,
    revocations,
    isDisabled: path => disabledModule(path) !== undefined,
    addIdempotency: honourIdempotencyKeys(claims, headers),
    addAudit: auditUnsafeRequests(db),
    refuseChanges: refuseChanges(modules.flatMap(({ refusal }) => refusal ?? [])),
    visits,
    shoppers,
    publicLimit
  })
  for (const module of modules.filter(each => each.enabled)) module.routes?.(tiersOf(module.name))
  mountPages(app, { config, version, writeDocument }, pages)
  await app.ready()
  classOf = createClassTable(mounted)
  allowedMethods = createAllowedMethods(mounted)

  const problems = routeProblems(mounted, modules)
  if (problems.length > 0) throw new OperatorError(`Routes are mounted wrongly:\n  ${problems.join('\n  ')}`)
  chores.sweep(SWEEP_SECONDS, 'delete expired idempotency keys', () => db.run(deleteExpiredKeys))
  chores.sweep(SWEEP_SECONDS, 'delete old audit entries', () => deleteOldAudit(db))
  if (config.server.diagnostics_port !== 0) port = await openDiagnosticsPort({ ...platform, metrics })
  // It answers for as long as anything else does.
  app.server.once('close', () => port?.close())
  return {
    app,
    document: writeDocument,
    hold: draining.hold,
    drain: draining.begin,
    onUncaught: createUncaughtHandler({ ...platform, headers: commonHeaders(config) })
  }
}

function createServer({ config, log }: Platform, parts: ServerParts): FastifyInstance {
  const { metrics, requestHeaders, visits, shoppers, answers, classOf, isDraining, limit } = parts
  const common = commonHeaders(config)
  const { origins } = config.server.cors
  const cors = createCors({ origins, requestHeaders, headers: common, metrics })
  const { body_bytes_max: bodyLimit, trust_proxy: trustProxy, connections_max } = config.server
  const isServedHost = createHostCheck(config)
  const connections: Connections[] = []
  const app = fastify({
    loggerInstance: config.environment === 'development' ? withoutInfo(log) : log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost 2 us of it; lines about a request name it themselves.
    childLoggerFactory: () => log,
    genReqId: request => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // The address that the proxy itself saw: what stands further left in X-Forwarded-For is what the client claims.
    trustProxy: trustProxy && ((_address, hop) => hop === 0),
    bodyLimit,
    serverFactory: handler => {
      const intake = createIntake()
      const door = createDoor({
        visits,
        intake,
        classOf,
        networkOf: shoppers.networkOf,
        isDraining,
        headers: common,
        handler: cors.answerPreflights(handler)
      })
      const opened = createNodeServer(cors.readable(door), intake, connections_max)
      connections.push(opened.connections)
      return opened.server
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A timer for each route, which nothing here can make wait.
    pluginTimeout: 0,
    schemaController: {
      compilersFactory: {
        buildValidator: () => compileValidator as never,
        buildSerializer: () => compileSerializer as never
      }
    },
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    clientErrorHandler: refuseConnection,
    // Targets that the router cannot even look up. No hook runs for them.
    frameworkErrors: (error, raw, reply) => {
      const request = raw as FastifyRequest
      if (!begin(request, reply as FastifyReply)) handleError(error, request, reply as FastifyReply)
    }
  }) as unknown as FastifyInstance

  /** What every request gets before anything of it is looked at. Returns whether a module that is switched off answered it. */
  const begin = (request: FastifyRequest, reply: FastifyReply): boolean => {
    reply.headers(common).header('x-request-id', request.id)
    recordAnswer(request, reply, metrics)
    const disabled = answers.disabledModule(request.url)
    if (disabled !== undefined) reply.code(503).send(disabled)
    return disabled !== undefined
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (begin(request, reply)) return
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') return done(missingHost())
    if (request.url.includes('%00')) return done(nulInUrl())
    if (!isServedHost(request.headers.host) && !isDiagnostic(request)) {
      sendHostNotServed(reply)
      return
    }
    limit(request, reply, refusal => {
      if (refusal === undefined && request.is404) answers.unknownRoute(request, reply)
      else done(refusal)
    })
  })

  app.addHook('onSend', (request, reply, payload, done) => {
    endWithUnreadBody(request.raw, reply.raw)
    done(null, payload)
  })
  app.setErrorHandler(handleError)
  app.decorateRequest('identity', null)
  app.decorateRequest('shopperAddress', null)
  app.decorateRequest('idempotency', null)
  app.decorateRequest('rawBody', null)
  app.decorateRequest('mayPass', false)
  app.decorateRequest('write', null)
  app.decorateRequest('operationId', null)
  app.decorateRequest('audit', null)
  app.decorateRequest('visit', null)
  app.decorateRequest('deadlineAt', Number.POSITIVE_INFINITY)
  app.decorateRequest('onAbandoned', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, body, done) => {
    try {
      request.rawBody = body as Buffer
      done(
        null,
        parseJson(body as Buffer, (request.routeOptions.config.bounds ?? boundsOf(undefined)).valuesMax)
      )
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('preClose', done => {
    for (const each of connections) each.endIdle()
    done()
  })
  return app
}
