import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Config } from '../../config.ts'
import type { Metrics } from '../../platform/metrics/registry.ts'
import { byAddress } from '../callers/rate-limits.ts'
import { overloaded } from '../errors.ts'
import { httpProblems, type Problem, problemAnswer } from '../problem.ts'
import { commonHeaders } from '../routing/answer-headers.ts'
import { isStreamed } from '../routing/bodies.ts'
import type { RequestClass } from '../routing/tiers.ts'
import { type Admission, createAdmission } from './admission.ts'
import { type Crowd, createCrowd } from './crowd.ts'
import { CLASSES, DEADLINE_MS } from './request-classes.ts'
import type { Applicant, Refusal } from './waiting-line.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * When it will be answered 503 if nobody has answered it, on the clock of `performance.now()`. Work for it that can
     * be limited ends then. Infinity outside of `/api`, and while a body arrives.
     */
    deadlineAt: number
    /** Its way through admission; `null` outside of `/api`. */
    visit: Visit | null
    /** Called once work has ended that the gateway did not wait for: the request was answered without it. */
    onAbandoned: readonly (() => void)[] | null
  }
}

const TICK_MS = 50
/** Deadlines are looked at every so many ticks. */
const SWEEP_TICKS = 5
/** Work that went on so long after its deadline does not keep a place from others. */
const FORGOTTEN_MS = 15_000
/** Why a request was refused: `door` is the raw listener, the next three are those of `admission.ts`. */
const REASONS = ['door', 'queue', 'wait', 'share', 'deadline'] as const
const OVERLOADED: Problem = { status: 503, code: overloaded.code, detail: overloaded().message }

export type Visits = ReturnType<typeof createVisits>

/** The requests under `/api`, each from its first line to its answer: places, bodies that do not come, and deadlines. */
export function createVisits({ config, metrics }: { config: Pick<Config, 'server'>; metrics: Metrics }) {
  const { concurrent_requests_max: concurrentMax, body_seconds: bodySeconds } = config.server
  const admission = createAdmission(concurrentMax)
  const refused = metrics.counter(
    'requests_refused',
    'Requests under /api that were refused before their work, or cut off at their deadline.',
    { class: CLASSES, reason: REASONS }
  )
  declareFigures(metrics, admission)
  const headers = commonHeaders(config)
  const open = createCrowd<Visit>()
  let timer: NodeJS.Timeout | undefined
  let ticks = 0

  const tick = () => {
    const now = performance.now()
    admission.tick(now)
    ticks += 1
    if (ticks % SWEEP_TICKS !== 0) return
    for (const visit of open.all()) visit.look(now)
    if (!open.isEmpty()) return
    clearInterval(timer)
    timer = undefined
  }
  const begin = (request: FastifyRequest, reply: FastifyReply): void => {
    const visit = new Visit(request, reply, { admission, refused, headers, bodySeconds, open })
    request.visit = visit
    open.add(visit)
    timer ??= setInterval(tick, TICK_MS).unref()
  }

  return {
    admission,
    refused,
    /** Puts admission around every route of this scope. Whoever is over a limit was refused before. */
    guard(api: FastifyInstance): void {
      api.addHook('onRequest', (request, reply, done) => {
        begin(request, reply)
        done()
      })
      api.addHook('preValidation', (request, _reply, done) => (request.visit as Visit).enter(done))
      api.addHook('onSend', (request, _reply, payload, done) => {
        request.visit?.answered(payload)
        done(null, payload)
      })
      api.addHook('onRoute', followHandler)
    }
  }
}

function declareFigures(metrics: Metrics, { statistics }: Admission): void {
  metrics.gauge(
    'request_places',
    'Requests under /api that may be worked on at once, at present.',
    () => statistics().places
  )
  metrics.gauge('request_places_taken', 'Requests under /api that are worked on.', () => statistics().taken)
  metrics.gauge('requests_waiting', 'Requests under /api that wait for a place.', () => statistics().waiting)
  metrics.total('request_waits', 'Requests that waited for a place and got one.', () => statistics().waits)
  metrics.total('request_wait_seconds', 'Time they waited.', () => statistics().waitedMs / 1_000)
}

/** Lets the visit see when the handler has ended, whether or not somebody still waits for its answer. */
function followHandler(route: RouteOptions): void {
  const { handler } = route
  route.handler = function (request, reply) {
    const result = handler.call(this, request, reply) as unknown
    if (!(result instanceof Promise)) return result as never
    const { visit } = request
    if (visit === null) return result as never
    visit.workBegan()
    return result.then(visit.workDone, visit.workFailed) as never
  }
}

type House = {
  admission: Admission
  refused: { add(labels: { class: RequestClass; reason: (typeof REASONS)[number] }): void }
  headers: Readonly<Record<string, string>>
  bodySeconds: number
  open: Crowd<Visit>
}
type State = 'arriving' | 'waiting' | 'working' | 'paused' | 'left'

/** One request on its way. */
class Visit implements Applicant {
  /** Where it stands among the open ones. */
  at = -1
  readonly class: RequestClass
  readonly network: string
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #house: House
  #state: State = 'arriving'
  #bodyUntil: number
  #admittedAt = 0
  #isWorking = false
  #isCut = false
  #bytes = 0
  #goOn: (() => void) | undefined

  constructor(request: FastifyRequest, reply: FastifyReply, house: House) {
    const now = performance.now()
    this.class = request.routeOptions.config.class ?? 'browse'
    this.network = byAddress(request)
    this.#request = request
    this.#reply = reply
    this.#house = house
    const hasBody = hasBodyToCome(request)
    this.#bodyUntil = hasBody ? now + house.bodySeconds * 1_000 : Number.POSITIVE_INFINITY
    request.deadlineAt = hasBody ? Number.POSITIVE_INFINITY : now + DEADLINE_MS[this.class]
  }

  /** All of the request is there, and its caller within their limits. Goes on once it has a place. */
  enter(goOn: () => void): void {
    if (this.#isCut) return
    const now = performance.now()
    if (this.#request.deadlineAt === Number.POSITIVE_INFINITY)
      this.#request.deadlineAt = now + DEADLINE_MS[this.class]
    this.#bodyUntil = Number.POSITIVE_INFINITY
    this.#goOn = goOn
    this.#state = 'waiting'
    this.#house.admission.enter(this, now)
  }

  admit(): void {
    const goOn = this.#goOn as () => void
    this.#goOn = undefined
    this.#admittedAt = performance.now()
    this.#state = 'working'
    // Who went away while waiting is not worked for.
    if (this.#isCut || this.#reply.raw.destroyed) this.#leave()
    else goOn()
  }

  refuse(reason: Refusal): void {
    this.#state = 'left'
    this.#goOn = undefined
    this.#house.refused.add({ class: this.class, reason })
    this.#cut(OVERLOADED)
  }

  /** Whoever only waits (for the first try of the same request, for somebody outside) needs no place meanwhile. */
  pause(): () => void {
    if (this.#state !== 'working') return () => {}
    this.#state = 'paused'
    this.#house.admission.pause(this, performance.now())
    return () => {
      if (this.#state !== 'paused') return
      this.#state = 'working'
      this.#admittedAt = performance.now()
      this.#house.admission.resume(this)
    }
  }

  /** The answer is made. That of a stream is made when the stream has ended. */
  answered(payload: unknown): void {
    if (isStream(payload)) this.#reply.raw.once('close', () => this.#leave())
    else this.#leave()
  }

  workBegan(): void {
    this.#isWorking = true
  }
  readonly workDone = (value: unknown): unknown => {
    // A reply was answered already, and a stream is answered with.
    if (value !== this.#reply && !isStream(value)) this.#workEnded()
    return value
  }
  readonly workFailed = (error: unknown): undefined => {
    this.#workEnded()
    if (!this.#isCut) throw error
  }
  #workEnded(): void {
    this.#isWorking = false
    this.#leave()
    if (!this.#isCut) return
    this.#house.open.remove(this)
    for (const each of this.#request.onAbandoned ?? []) each()
  }

  /** The connection has no more to do with it: its client is gone, or has the answer. */
  closed(): void {
    if (!this.#isCut || !this.#isWorking) this.#house.open.remove(this)
  }

  /** Notes that a request of class bulk gets on, in ways that its connection does not show. */
  progressed(): void {
    if (this.class === 'bulk') this.#request.deadlineAt = performance.now() + DEADLINE_MS.bulk
  }

  /** Looks whether its time is up. */
  look(now: number): void {
    const { raw } = this.#reply
    if (this.#isCut) {
      if (now < this.#request.deadlineAt + FORGOTTEN_MS) return
      this.#leave()
      this.#house.open.remove(this)
    } else if (raw.writableEnded || raw.destroyed) return
    else if (now > this.#bodyUntil) {
      if (!raw.req.complete) this.#cut(httpProblems.ERR_HTTP_REQUEST_TIMEOUT)
    } else if (now > this.#request.deadlineAt && !this.#gotOn()) {
      this.#house.refused.add({ class: this.class, reason: 'deadline' })
      if (raw.headersSent) raw.destroy()
      else this.#cut(OVERLOADED)
    }
  }

  /** Whether bytes of a large file came or went since the last look. */
  #gotOn(): boolean {
    if (this.class !== 'bulk') return false
    const { bytesRead, bytesWritten } = this.#request.raw.socket
    const bytes = bytesRead + (bytesWritten ?? 0)
    if (bytes === this.#bytes) return false
    this.#bytes = bytes
    this.progressed()
    return true
  }

  #leave(): void {
    const held = this.#state
    this.#state = 'left'
    if (held === 'working') this.#house.admission.leave(this, this.#admittedAt, performance.now())
  }

  /** Answers in the place of the handler, which may still be working; whatever it answers is dropped. */
  #cut(problem: Problem): void {
    const { raw } = this.#reply
    this.#isCut = true
    this.#reply.hijack()
    if (!this.#isWorking) this.#workEnded()
    if (raw.destroyed || raw.writableEnded) return
    const { headers, body } = problemAnswer(problem, this.#request.id, this.#house.headers)
    if (!this.#request.raw.complete) {
      // What is left of the body belongs to nobody.
      headers.connection = 'close'
      for (const event of ['data', 'end', 'error']) this.#request.raw.removeAllListeners(event)
      this.#request.raw.on('error', () => {}).resume()
    }
    raw.writeHead(problem.status, headers).end(body)
    // A hook that was about to answer still will. That answer goes nowhere.
    Object.assign(raw, { writeHead: () => raw, write: () => true, end: () => raw })
  }
}

function hasBodyToCome(request: FastifyRequest): boolean {
  const { method, headers } = request
  if (method === 'GET' || method === 'HEAD' || isStreamed(request.routeOptions.config.body)) return false
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

const isStream = (payload: unknown): boolean =>
  typeof payload === 'object' && payload !== null && 'pipe' in payload
