import { randomUUID } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import { OperatorError } from '../kernel/errors.ts'
import { createIdempotencyKeyClaims } from '../platform/idempotency/claims.ts'
import { deleteExpiredIdempotencyKeys } from '../platform/idempotency/keys.ts'
import { logWithoutInfoLines } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { createRequestClassLookup } from './admission/request-classes.ts'
import { createRequestSlots, type RequestSlots } from './admission/request-slots.ts'
import type { TokenRevocationSource, VerifyBearerToken } from './callers/identity.ts'
import { createNonApiRateLimitHook } from './callers/page-limits.ts'
import { callerNetwork, createTierRateLimitHooks } from './callers/rate-limits.ts'
import { createShopperAddressReader, type ShopperAddressReader } from './callers/shopper-addresses.ts'
import { mountDiagnostics } from './diagnostics/endpoints.ts'
import { createMetricsExposition, type MetricsExposition } from './diagnostics/metrics.ts'
import { type DiagnosticsHttpServer, openOwnDiagnosticsPort } from './diagnostics/port.ts'
import { addRequestSpans, countAndLogRequest } from './diagnostics/request-log.ts'
import { missingHostError, nulInUrlError } from './errors.ts'
import { createAcceptQueue } from './http-server/accept-queue.ts'
import type { HttpConnections } from './http-server/connection-limits.ts'
import { createCors } from './http-server/cors.ts'
import { createAllowedHostCheck } from './http-server/development-access.ts'
import { createServerDraining, type ServerDraining } from './http-server/draining.ts'
import { createRequestListener } from './http-server/listener.ts'
import { createNodeHttpServer, refuseHttpConnection } from './http-server/node-server.ts'
import { createUncaughtErrorHandler } from './http-server/uncaught-errors.ts'
import { closeAfterUnreadBody } from './http-server/unread-bodies.ts'
import { createKeptResponses, type KeptResponses } from './kept-responses.ts'
import { collectOpenApi, describeOpenApiTags, type OpenApiTagDescriptions } from './openapi/document.ts'
import { type GatewayPages, mountPages } from './pages/pages.ts'
import { sendErrorResponse, sendHostNotServed, sendUnknownRoute } from './problem.ts'
import { createDisabledModuleCheck, type SwitchableModule } from './routing/disabled-modules.ts'
import { addJsonBodyParser } from './routing/json-parser.ts'
import { commonResponseHeaders } from './routing/response-headers.ts'
import { createMethodsOfPath, findRouteProblems, type MountedRoute, requestPath } from './routing/routes.ts'
import type { ModuleRequestHeaders, Tiers } from './routing/tiers.ts'
import { compileSerializer, compileValidator } from './routing/validation.ts'
import { API_PREFIX, createRouteTiers, type RouteTierDeps } from './tier-scopes.ts'
import { auditUnsafeRequests } from './writes/audit.ts'
import { honourIdempotencyKeys } from './writes/idempotency.ts'
import { type FindMaintenanceModeError, refuseUnsafeRequestsDuringMaintenance } from './writes/maintenance.ts'
import { findReadOnlyProcessError } from './writes/read-only.ts'

/** What the gateway needs of a module: its name, its paths, and the routes that it mounts when enabled. */
export type GatewayModule = {
  name: string
  /** Description of the API document's tag that has the module's name. `tags` describes other tags of its routes. */
  description?: string
  tags?: OpenApiTagDescriptions
  basePaths: readonly string[]
  enabled: boolean
  /** Parts of the module that are enabled and disabled separately. */
  parts?: readonly SwitchableModule[]
  routes?: ((tiers: Tiers) => void) | undefined
  /** Returns the error for changes by shoppers, such as during maintenance; `undefined` when they are allowed. */
  guard?: FindMaintenanceModeError | undefined
} & Partial<ModuleRequestHeaders>
export type GatewayDeps = {
  platform: Platform
  modules: readonly GatewayModule[]
  authenticate: VerifyBearerToken
  revocations?: TokenRevocationSource | undefined
  /** The fields that modules add to resources of others. Default: none. */
  fieldsOf?: RouteTierDeps['fieldsOf']
  version: string
} & GatewayPages
export type Gateway = {
  app: FastifyInstance
  /** Returns the OpenAPI document, whether or not it is served. */
  document(): Promise<string>
  /** Makes `/readyz` answer 503 although requests are served, such as while the first start fills the shop. */
  hold(isHeld: boolean): void
  /** Makes `/readyz` answer 503, so that load balancers choose another process, and closes each connection with its response. */
  drain(): void
  retire: ServerDraining['retire']
  /** Creates the listener for uncaught errors; `stop` shuts the process down. */
  onUncaught: ReturnType<typeof createUncaughtErrorHandler>
}

type FallbackResponses = {
  /** Returns the body of the 503 if the target belongs to a disabled module. */
  disabledModule(target: string): { error: string } | undefined
  unknownRoute(request: FastifyRequest, reply: FastifyReply): void
}
type ClassOf = ReturnType<typeof createRequestClassLookup>
type ServerParts = {
  metrics: MetricsExposition
  requestHeaders: readonly string[]
  slots: RequestSlots
  shopperAddresses: ShopperAddressReader
  keptResponses: Pick<KeptResponses, 'send' | 'orElse'>
  fallbacks: FallbackResponses
  classOf: ClassOf
  isDraining: () => boolean
  /** Limits requests outside the tiers. */
  limit: ReturnType<typeof createNonApiRateLimitHook>
}

const REQUEST_ID = /^[\w.:-]{1,128}$/
const PARAMETER_LENGTH_MAX = 256
const CLEANUP_SECONDS = 300

const isDiagnostic = ({ routeOptions }: FastifyRequest) => routeOptions.config.isDiagnostic === true

/** Creates the server: what all modules share, then the routes of each module on their tiers. */
export async function createGateway({
  platform,
  modules,
  authenticate,
  revocations,
  fieldsOf = () => [],
  version,
  ...pages
}: GatewayDeps): Promise<Gateway> {
  const { config, db, cache, timers, openBudget, worker } = platform
  const metrics = createMetricsExposition(platform.metrics, platform.durations, worker)
  platform.exportMetrics?.(metrics.collect)
  const shopperAddresses = createShopperAddressReader(config.server)
  const { enabled: hasLimits, public_per_minute: perMinute } = config.rate_limit
  const publicLimit = hasLimits
    ? createTierRateLimitHooks(openBudget, { name: 'public', perMinute, callerOf: callerNetwork })
    : undefined
  const mounted: MountedRoute[] = []
  let classOf: ClassOf = () => undefined
  let allowedMethods: ReturnType<typeof createMethodsOfPath> = () => []
  const headers: ModuleRequestHeaders = {
    // Several modules may declare the same header.
    credentialHeaders: [...new Set(modules.flatMap(module => module.credentialHeaders ?? []))],
    varyHeaders: [...new Set(modules.flatMap(module => module.varyHeaders ?? []))]
  }
  const disabledModule = createDisabledModuleCheck(modules)
  const keptResponses = createKeptResponses({ ...platform, ...headers, shopperAddresses, publicLimit })
  const slots = createRequestSlots({ config, metrics: platform.metrics, ...keptResponses })
  const app = createServer(platform, {
    metrics,
    requestHeaders: [...headers.credentialHeaders, ...headers.varyHeaders],
    slots,
    shopperAddresses,
    keptResponses,
    classOf: (method, target) => classOf(method, target),
    isDraining: () => draining.isDraining(),
    limit: createNonApiRateLimitHook(publicLimit?.onRequest),
    fallbacks: {
      disabledModule,
      unknownRoute: (request, reply) => sendUnknownRoute(reply, allowedMethods(requestPath(request.url)))
    }
  })
  let port: DiagnosticsHttpServer | undefined
  const draining = createServerDraining(app, isHeld => port?.hold(isHeld))
  app.addHook('onRoute', ({ method, url, prefix, config }) => {
    const { owner = null, class: requestClass = null, bounds } = config ?? {}
    const hasTier = prefix === API_PREFIX
    mounted.push({ method, url, owner, class: requestClass, hasTier, unbounded: bounds?.unbounded ?? [] })
  })
  const writeDocument = collectOpenApi(app, version, describeOpenApiTags(modules))
  const { private_metrics: hasPrivateMetrics } = config.server
  mountDiagnostics(app, { db, cache, worker, metrics, isHeld: draining.isHeld, hasPrivateMetrics })
  const claims = createIdempotencyKeyClaims(db)
  app.addHook('onClose', () => claims.close())
  const tiersOf = await createRouteTiers(app, {
    config,
    authenticate,
    headers,
    revocations,
    isDisabled: path => disabledModule(path) !== undefined,
    addIdempotency: honourIdempotencyKeys(claims, headers),
    addAudit: auditUnsafeRequests(db),
    refuseChanges: refuseUnsafeRequestsDuringMaintenance(modules.flatMap(({ guard }) => guard ?? [])),
    slots,
    shopperAddresses,
    publicLimit,
    keptResponses,
    openBudget,
    fieldsOf
  })
  for (const module of modules.filter(each => each.enabled)) module.routes?.(tiersOf(module.name))
  mountPages(app, { config, version, writeDocument }, pages)
  await app.ready()
  classOf = createRequestClassLookup(mounted)
  allowedMethods = createMethodsOfPath(mounted)

  const problems = findRouteProblems(mounted, modules)
  if (problems.length > 0) throw new OperatorError(`Routes are mounted wrongly:\n  ${problems.join('\n  ')}`)
  timers.untilEmpty(CLEANUP_SECONDS, 'delete expired idempotency keys', () =>
    db.run(deleteExpiredIdempotencyKeys)
  )
  port = await openOwnDiagnosticsPort({ ...platform, metrics })
  // The diagnostics port closes last.
  app.server.once('close', () => port?.close())
  return {
    app,
    document: writeDocument,
    hold: draining.hold,
    drain: draining.begin,
    retire: draining.retire,
    onUncaught: createUncaughtErrorHandler({ ...platform, headers: commonResponseHeaders(config) })
  }
}

function createServer({ config, log, tracer }: Platform, parts: ServerParts): FastifyInstance {
  const { metrics, requestHeaders, slots, shopperAddresses, fallbacks, classOf, isDraining, limit } = parts
  const common = commonResponseHeaders(config)
  const { origins } = config.server.cors
  const cors = createCors({ origins, requestHeaders, headers: common, metrics })
  const { body_bytes_max: bodyLimit, trust_proxy: trustProxy, connections_max } = config.server
  const isServedHost = createAllowedHostCheck(config)
  const connections: HttpConnections[] = []
  const app = fastify({
    loggerInstance: config.environment === 'development' ? logWithoutInfoLines(log) : log,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger costs 2 us a request; log lines name their request themselves.
    childLoggerFactory: () => log,
    genReqId: request => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    // The address that the proxy saw. Addresses further left in X-Forwarded-For are claims of the client.
    trustProxy: trustProxy && ((_address, hop) => hop === 0),
    bodyLimit,
    serverFactory: handler => {
      const acceptQueue = createAcceptQueue()
      const listener = createRequestListener({
        slots,
        acceptQueue,
        classOf,
        networkOf: shopperAddresses.networkOf,
        isDraining,
        headers: common,
        handler: cors.answerPreflights(handler)
      })
      const opened = createNodeHttpServer(cors.exposeResponses(listener), acceptQueue, connections_max)
      connections.push(opened.connections)
      return opened.server
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Zero disables Fastify's timer for each plugin, because no plugin of the gateway waits.
    pluginTimeout: 0,
    schemaController: {
      compilersFactory: {
        buildValidator: () => compileValidator as never,
        buildSerializer: () => compileSerializer as never
      }
    },
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    clientErrorHandler: refuseHttpConnection,
    // Fastify calls this for request targets that its router cannot parse. No hook runs for them.
    frameworkErrors: (error, raw, reply) => {
      const request = raw as FastifyRequest
      if (!begin(request, reply as FastifyReply)) sendErrorResponse(error, request, reply as FastifyReply)
    }
  }) as unknown as FastifyInstance

  /** Sets the common headers and logs the request. Returns whether it answered for a disabled module. */
  const begin = (request: FastifyRequest, reply: FastifyReply): boolean => {
    reply.headers(common).header('x-request-id', request.id)
    countAndLogRequest(request, reply, metrics)
    const disabled = fallbacks.disabledModule(request.url)
    if (disabled !== undefined) reply.code(503).send(disabled)
    return disabled !== undefined
  }
  if (tracer !== undefined) addRequestSpans(app, tracer)
  app.addHook('onRequest', (request, reply, done) => {
    const { host } = request.headers
    if (host !== undefined && isServedHost(host) && parts.keptResponses.send(request, reply)) {
      countAndLogRequest(request, reply, metrics)
      return
    }
    if (begin(request, reply)) return
    if (host === undefined && request.raw.httpVersion === '1.1') return done(missingHostError())
    if (request.url.includes('%00')) return done(nulInUrlError())
    if (!isServedHost(host) && !isDiagnostic(request)) {
      sendHostNotServed(reply)
      return
    }
    limit(request, reply, refusal => {
      if (refusal === undefined && request.is404) fallbacks.unknownRoute(request, reply)
      else done(refusal ?? (config.database.read_only ? findReadOnlyProcessError(request) : undefined))
    })
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    closeAfterUnreadBody(request.raw, reply.raw)
    done(null, payload)
  })
  app.setErrorHandler(parts.keptResponses.orElse(sendErrorResponse))
  app.decorateRequest('identity', null)
  app.decorateRequest('shopperAddress', null)
  for (const name of ['idempotency', 'rawBody', 'write', 'fieldWrites', 'operationId', 'audit', 'slot'])
    app.decorateRequest(name, null)
  app.decorateRequest('mayPass', false)
  app.decorateRequest('deadlineAt', Number.POSITIVE_INFINITY)
  app.decorateRequest('onAbandoned', null)
  app.removeAllContentTypeParsers()
  addJsonBodyParser(app)
  app.addHook('preClose', done => {
    for (const each of connections) each.closeIdle()
    done()
  })
  return app
}
