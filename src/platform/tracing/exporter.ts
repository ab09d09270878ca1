import type { Metrics } from '../metrics/registry.ts'
import { attributesJson, nanoseconds, type OtlpAttributes, type SendOtlp } from './otlp.ts'

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
  readonly attributes: OtlpAttributes
  readonly events: readonly { readonly name: string; readonly at: number }[]
}

const FLUSH_MS = 1_000
const SPANS_PER_REQUEST_MAX = 512
/** Spans that wait. Further ones are dropped, so that a collector that is away costs no memory. */
const SPANS_WAITING_MAX = 8_192
/** Numbers of the protocol (opentelemetry-proto, `Span.SpanKind` and `Status.StatusCode`). */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3, consumer: 5 }
const STATUS_ERROR = 2

type Deps = {
  send: SendOtlp
  metrics: Metrics
  /** Attributes of this process. */
  resource: OtlpAttributes
}

/** Sends finished spans to a collector once a second. It never delays other work. */
export function createSpanExporter({ send, metrics, resource }: Deps) {
  let waiting: FinishedSpan[] = []
  let flushing: Promise<void> | undefined
  const count = metrics.counter('spans', 'Spans of traces, by result.', {
    result: ['exported', 'dropped']
  })

  const bodyOf = (spans: readonly FinishedSpan[]) => {
    const scopeSpans = [{ scope: { name: 'cartwright' }, spans: spans.map(spanJson) }]
    return { resourceSpans: [{ resource: { attributes: attributesJson(resource) }, scopeSpans }] }
  }

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, SPANS_PER_REQUEST_MAX)
      waiting = waiting.slice(SPANS_PER_REQUEST_MAX)
      const result = await send(() => bodyOf(spans))
      count.add({ result }, spans.length)
      if (result === 'dropped') return
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
