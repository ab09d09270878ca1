import type { HttpClient } from '../http/client.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'

/** Values of attributes. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>
export type SpanKind = 'internal' | 'server' | 'client' | 'consumer'
export type FinishedSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: SpanKind
  /** Since 1970, in microseconds. */
  readonly startedAt: number
  readonly endedAt: number
  readonly hasFailed: boolean
  readonly attributes: SpanAttributes
  readonly events: readonly { readonly name: string; readonly at: number }[]
}

const FLUSH_MS = 1_000
const SPANS_PER_REQUEST_MAX = 512
/** Spans that wait. Further ones are dropped, so that a collector that is away costs no memory. */
const SPANS_WAITING_MAX = 8_192
const TIMEOUT_MS = 5_000
/** Numbers of the protocol (opentelemetry-proto, `Span.SpanKind` and `Status.StatusCode`). */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }
const STATUS_ERROR = 2

type Deps = {
  url: string
  http: Pick<HttpClient, 'send'>
  log: Log
  metrics: Metrics
  /** Attributes of this process. */
  resource: SpanAttributes
}

/** Sends finished spans to a collector, by OTLP over HTTP as JSON, once a second. It never delays other work. */
export function createSpanExporter({ url, http, log, metrics, resource }: Deps) {
  const target = `${url.replace(/\/+$/, '')}/v1/traces`
  let waiting: FinishedSpan[] = []
  let flushing: Promise<void> | undefined
  let hasFailed = false
  const count = metrics.counter('spans', 'Spans of traces, by result.', {
    result: ['exported', 'dropped']
  })

  async function send(spans: readonly FinishedSpan[]): Promise<void> {
    const scopeSpans = [{ scope: { name: 'cartwright' }, spans: spans.map(spanJson) }]
    const body = JSON.stringify({
      resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }]
    })
    const headers = { 'content-type': 'application/json' }
    const { status } = await http.send({
      url: target,
      method: 'POST',
      headers,
      body,
      timeoutMs: TIMEOUT_MS,
      isConfigured: true
    })
    if (status >= 300) throw new Error(`the collector answered with ${status}`)
  }

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, SPANS_PER_REQUEST_MAX)
      waiting = waiting.slice(SPANS_PER_REQUEST_MAX)
      try {
        await send(spans)
        count.add({ result: 'exported' }, spans.length)
        hasFailed = false
      } catch (error) {
        count.add({ result: 'dropped' }, spans.length)
        // Logged once for each outage.
        if (!hasFailed) log.warn({ err: error }, 'traces could not be sent to the collector')
        hasFailed = true
        return
      }
    }
  }
  const flush = (): Promise<void> => {
    flushing ??= flushAll().finally(() => {
      flushing = undefined
    })
    return flushing
  }
  const timer = setInterval(flush, FLUSH_MS).unref()

  return {
    add(span: FinishedSpan): void {
      if (waiting.length >= SPANS_WAITING_MAX) count.add({ result: 'dropped' })
      else waiting.push(span)
    },
    /** Sends what waits. */
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await flush()
      await flush()
    }
  }
}

const nanoseconds = (microseconds: number) => `${Math.round(microseconds)}000`

const attributesJson = (attributes: SpanAttributes) =>
  Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return []
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }]
  })

const spanJson = (span: FinishedSpan) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: KINDS[span.kind],
  startTimeUnixNano: nanoseconds(span.startedAt),
  endTimeUnixNano: nanoseconds(span.endedAt),
  attributes: attributesJson(span.attributes),
  events: span.events.map(({ name, at }) => ({ name, timeUnixNano: nanoseconds(at) })),
  ...(span.hasFailed && { status: { code: STATUS_ERROR } })
})
