import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Config } from '../../platform/core-settings.ts'
import type { Metrics } from '../../platform/metrics/registry.ts'
import { callerNetwork } from '../callers/rate-limits.ts'
import { overloadedError } from '../errors.ts'
import { createProblemResponse, httpLayerProblems, type Problem } from '../problem.ts'
import { awaitsBody, dropUnreadBody } from '../routing/body-kinds.ts'
import { commonResponseHeaders } from '../routing/response-headers.ts'
import type { RequestClass } from '../routing/tiers.ts'
import { type AdmissionControl, createAdmissionControl } from './admission.ts'
import { REQUEST_CLASSES, REQUEST_DEADLINES_MS } from './request-classes.ts'
import { createUnorderedSet, type UnorderedSet } from './unordered-set.ts'
import type { OverloadReason, QueuedRequest } from './wait-queue.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Deadline of the request, on the clock of `performance.now()`: it gets 503 then unless it has a response. Statements
     * and other work with a timeout end then too. Infinity outside `/api`, and while a body arrives.
     */
    deadlineAt: number
    /** `null` outside `/api`. */
    slot: RequestSlot | null
    /** Called when a handler ends whose request was answered early, without its response. */
    onAbandoned: readonly (() => void)[] | null
  }
}

const TICK_MS = 50
/** Ticks between two checks of the deadlines. */
const DEADLINE_TICKS = 5
/** A handler that runs so long after its deadline no longer holds a slot. */
const ABANDONED_MS = 15_000
/** Why a request was refused: `arrival` by the request listener, the next three by `admission.ts`. */
const REASONS = ['arrival', 'queue', 'wait', 'share', 'deadline'] as const
type Reason = (typeof REASONS)[number]
const OVERLOADED: Problem = { status: 503, code: overloadedError.code, detail: overloadedError().message }

export type RequestSlots = ReturnType<typeof createRequestSlots>

/** Sends another response than 503 to a request that waits too long. Returns false when there is none. */
type SendInTime = (request: FastifyRequest, reply: FastifyReply) => boolean
type Deps = { config: Pick<Config, 'server'>; metrics: Metrics; sendInTime?: SendInTime }

/** Creates the slots of requests under `/api`: admission, time limits of bodies, and deadlines. */
export function createRequestSlots({ config, metrics, sendInTime = () => false }: Deps) {
  const { concurrent_requests_max: concurrentMax, body_seconds: bodySeconds } = config.server
  const admission = createAdmissionControl(concurrentMax)
  const refused = metrics.counter(
    'requests_refused',
    'Requests under /api that were refused on arrival or canceled at their deadline.',
    { class: REQUEST_CLASSES, reason: REASONS }
  )
  declareMetrics(metrics, admission)
  const headers = commonResponseHeaders(config)
  const open = createUnorderedSet<RequestSlot>()
  const deps: SlotDeps = { admission, refused, headers, bodySeconds, open, sendInTime }
  let timer: NodeJS.Timeout | undefined
  let ticks = 0

  const tick = () => {
    const now = performance.now()
    admission.tick(now)
    ticks += 1
    if (ticks % DEADLINE_TICKS !== 0) return
    for (const slot of open.all()) slot.checkDeadline(now)
    if (!open.isEmpty()) return
    clearInterval(timer)
    timer = undefined
  }
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    const slot = new RequestSlot(request, reply, deps)
    request.slot = slot
    open.add(slot)
    timer ??= setInterval(tick, TICK_MS).unref()
  }

  return {
    admission,
    refused,
    /** Puts admission around every route of this scope, after the rate limits. */
    addHooks(api: FastifyInstance): void {
      api.addHook('onRequest', (request, reply, done) => {
        begin(request, reply)
        done()
      })
      api.addHook('preValidation', (request, _reply, done) => (request.slot as RequestSlot).enter(done))
      api.addHook('onSend', (request, _reply, payload, done) => {
        request.slot?.responseReady(payload)
        done(null, payload)
      })
      api.addHook('onRoute', trackHandler)
    }
  }
}

function declareMetrics(metrics: Metrics, { statistics }: AdmissionControl): void {
  metrics.gauge('request_slots', 'Limit of simultaneous requests under /api.', () => statistics().slots)
  metrics.gauge('request_slots_used', 'Requests under /api in progress.', () => statistics().used)
  metrics.gauge('requests_waiting', 'Requests under /api waiting for a slot.', () => statistics().waiting)
  metrics.total('request_waits', 'Requests that waited for a slot and got one.', () => statistics().waits)
  metrics.total(
    'request_wait_seconds',
    'Total time that requests waited for a slot, in seconds.',
    () => statistics().waitedMs / 1_000
  )
}

/** Tells the slot when the handler ends, even if the client has left or got a response before. */
function trackHandler(route: RouteOptions): void {
  const { handler } = route
  route.handler = function (request, reply) {
    const result = handler.call(this, request, reply) as unknown
    if (!(result instanceof Promise)) return result as never
    const { slot } = request
    if (slot === null) return result as never
    slot.handlerStarted()
    return result.then(slot.handlerReturned, slot.handlerFailed) as never
  }
}

type SlotDeps = {
  admission: AdmissionControl
  refused: { add(labels: { class: RequestClass; reason: Reason }): void }
  headers: Readonly<Record<string, string>>
  bodySeconds: number
  open: UnorderedSet<RequestSlot>
  sendInTime: SendInTime
}
type State = 'arriving' | 'waiting' | 'working' | 'paused' | 'released'

/** A request under `/api`, from its headers to its response. */
class RequestSlot implements QueuedRequest {
  /** Index in the set of open slots. */
  setIndex = -1
  readonly class: RequestClass
  readonly network: string
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #deps: SlotDeps
  #state: State = 'arriving'
  #bodyUntil: number
  #admittedAt = 0
  #isHandlerRunning = false
  #isAnsweredEarly = false
  #bytes = 0
  #proceed: (() => void) | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, deps: SlotDeps) {
    const now = performance.now()
    this.class = request.routeOptions.config.class ?? 'browse'
    this.network = callerNetwork(request)
    this.#request = request
    this.#reply = reply
    this.#deps = deps
    const hasBody = awaitsBody(request)
    this.#bodyUntil = hasBody ? now + deps.bodySeconds * 1_000 : Number.POSITIVE_INFINITY
    request.deadlineAt = hasBody ? Number.POSITIVE_INFINITY : now + REQUEST_DEADLINES_MS[this.class]
  }

  /** Queues a request that has arrived completely. Calls `proceed` once it has a slot. */
  enter(proceed: () => void): void {
    if (this.#isAnsweredEarly) return
    const now = performance.now()
    if (this.#request.deadlineAt === Number.POSITIVE_INFINITY)
      this.#request.deadlineAt = now + REQUEST_DEADLINES_MS[this.class]
    this.#bodyUntil = Number.POSITIVE_INFINITY
    this.#proceed = proceed
    this.#state = 'waiting'
    this.#deps.admission.enter(this, now)
  }

  admit(): void {
    const proceed = this.#proceed as () => void
    this.#proceed = undefined
    this.#admittedAt = performance.now()
    this.#state = 'working'
    // The client disconnected while it waited.
    if (this.#isAnsweredEarly || this.#reply.raw.destroyed) this.#release()
    else proceed()
  }

  refuse(reason: OverloadReason): void {
    this.#state = 'released'
    this.#proceed = undefined
    this.#answerEarly(OVERLOADED, reason)
  }

  /** Releases the slot while the request only waits, for an earlier try of it or an external service. Returns how to resume. */
  pause(): () => void {
    if (this.#state !== 'working') return () => {}
    this.#state = 'paused'
    this.#deps.admission.pause(this, performance.now())
    return () => {
      if (this.#state !== 'paused') return
      this.#state = 'working'
      this.#admittedAt = performance.now()
      this.#deps.admission.resume(this)
    }
  }

  /** Releases the slot, after the end of the stream if the response is a stream. */
  responseReady(payload: unknown): void {
    if (isStream(payload)) this.#reply.raw.once('close', () => this.#release())
    else this.#release()
  }

  handlerStarted(): void {
    this.#isHandlerRunning = true
  }
  readonly handlerReturned = (value: unknown): unknown => {
    // A reply is sent already. A stream still has to be sent.
    if (value !== this.#reply && !isStream(value)) this.#handlerEnded()
    return value
  }
  readonly handlerFailed = (error: unknown): undefined => {
    this.#handlerEnded()
    if (!this.#isAnsweredEarly) throw error
  }
  #handlerEnded(): void {
    this.#isHandlerRunning = false
    this.#release()
    if (!this.#isAnsweredEarly) return
    this.#deps.open.remove(this)
    for (const each of this.#request.onAbandoned ?? []) each()
  }

  /** The client has the response, or disconnected. */
  connectionClosed(): void {
    if (!this.#isAnsweredEarly || !this.#isHandlerRunning) this.#deps.open.remove(this)
  }

  /** Extends the deadline of a bulk request that makes progress without traffic on its connection. */
  reportProgress(): void {
    if (this.class === 'bulk') this.#request.deadlineAt = performance.now() + REQUEST_DEADLINES_MS.bulk
  }

  /** Answers 408 when the body is late, 503 after the deadline. */
  checkDeadline(now: number): void {
    const { raw } = this.#reply
    if (this.#isAnsweredEarly) {
      if (now < this.#request.deadlineAt + ABANDONED_MS) return
      this.#release()
      this.#deps.open.remove(this)
    } else if (raw.writableEnded || raw.destroyed) return
    else if (now > this.#bodyUntil) {
      if (!raw.req.complete) this.#answerEarly(httpLayerProblems.ERR_HTTP_REQUEST_TIMEOUT)
    } else if (now > this.#request.deadlineAt && !this.#hasProgressed()) {
      if (!raw.headersSent) this.#answerEarly(OVERLOADED, 'deadline')
      else {
        this.#deps.refused.add({ class: this.class, reason: 'deadline' })
        raw.destroy()
      }
    }
  }

  /** Whether a bulk request received or sent bytes since the last check. */
  #hasProgressed(): boolean {
    if (this.class !== 'bulk') return false
    const { bytesRead, bytesWritten } = this.#request.raw.socket
    const bytes = bytesRead + (bytesWritten ?? 0)
    if (bytes === this.#bytes) return false
    this.#bytes = bytes
    this.reportProgress()
    return true
  }

  #release(): void {
    const before = this.#state
    this.#state = 'released'
    if (before === 'working') this.#deps.admission.release(this, this.#admittedAt, performance.now())
  }

  /** Answers before the handler does. If the handler still runs, its response is dropped. */
  #answerEarly(problem: Problem, reason?: Reason): void {
    const { raw } = this.#reply
    this.#isAnsweredEarly = true
    this.#reply.hijack()
    if (!this.#isHandlerRunning) this.#handlerEnded()
    const isGone = raw.destroyed || raw.writableEnded
    const isSent = !isGone && reason !== undefined && this.#deps.sendInTime(this.#request, this.#reply)
    if (reason !== undefined && !isSent) this.#deps.refused.add({ class: this.class, reason })
    if (isGone) return
    if (!isSent) this.#sendProblem(problem)
    // A hook of the handler may still send its response, which must go nowhere.
    Object.assign(raw, { writeHead: () => raw, write: () => true, end: () => raw })
  }

  #sendProblem(problem: Problem): void {
    const { raw } = this.#reply
    const { headers, body } = createProblemResponse(problem, this.#request.id, this.#deps.headers)
    if (dropUnreadBody(this.#request)) headers.connection = 'close'
    raw.writeHead(problem.status, headers).end(body)
  }
}

const isStream = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'pipe' in payload
