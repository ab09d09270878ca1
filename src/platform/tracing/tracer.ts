import { AsyncLocalStorage } from 'node:async_hooks'
import type { FinishedSpan, SpanKind } from './exporter.ts'
import type { OtlpAttributes } from './otlp.ts'
import { newSpanId, newTraceId, type TraceContext } from './trace-context.ts'

/** Statements of one transaction that its span lists. */
const EVENTS_MAX = 100

/** A span that is recorded and has not ended. */
export type Span = {
  readonly context: TraceContext
  readonly name: string
  /** In the run of a handler for several events: the span that causes what is emitted about this subject, if it is recorded. */
  readonly contextOf?: (subject: string) => TraceContext | undefined
  addEvent(name: string): void
  /** `name` replaces the first one. */
  end(result: { hasFailed: boolean; name?: string; attributes?: OtlpAttributes }): void
}
type SpanOptions = { name: string; kind: SpanKind; attributes?: OtlpAttributes }

export type Tracer = {
  /** Begins a span below `parent`, or a new trace without one. Returns undefined when the trace is not recorded. */
  begin(options: SpanOptions, parent?: TraceContext): Span | undefined
  /** The span that the running code belongs to. */
  current(): Span | undefined
  /** Makes the span the current one for the code that follows in this asynchronous context. */
  enter(span: Span): void
  /** Runs `work` in this span, and does not end it. */
  run<T>(span: Span, work: () => Promise<T>): Promise<T>
  /** Runs `work` in a span below the current one; without a span if there is none. */
  inSpan<T>(options: SpanOptions, work: (span?: Span) => Promise<T>): Promise<T>
  /** Runs `work` in a span below `parent`, or in a trace of its own without one, if the trace is recorded. */
  inTrace<T>(options: SpanOptions, work: (span?: Span) => Promise<T>, parent?: TraceContext): Promise<T>
}

type Deps = {
  /** Percentage of the traces that begin in this process and are recorded. */
  samplePercent: number
  onEnd: (span: FinishedSpan) => void
}

const now = () => (performance.timeOrigin + performance.now()) * 1_000

/** Records spans. The caller decides about a trace that the caller began, and a sample of all others is recorded. */
export function createTracer({ samplePercent, onEnd }: Deps): Tracer {
  const storage = new AsyncLocalStorage<Span>()

  function begin({ name, kind, attributes }: SpanOptions, parent?: TraceContext): Span | undefined {
    if (!(parent?.isSampled ?? Math.random() * 100 < samplePercent)) return undefined
    const traceId = parent?.traceId ?? newTraceId()
    const context = { traceId, spanId: newSpanId(), isSampled: true }
    const startedAt = now()
    const events: { name: string; at: number }[] = []
    return {
      context,
      name,
      addEvent(event) {
        if (events.length < EVENTS_MAX) events.push({ name: event, at: now() })
      },
      end({ hasFailed, name: last = name, attributes: more }) {
        onEnd({
          traceId,
          spanId: context.spanId,
          parentSpanId: parent?.spanId,
          name: last,
          kind,
          startedAt,
          endedAt: now(),
          hasFailed,
          attributes: { ...attributes, ...more },
          events
        })
      }
    }
  }

  async function runIn<T>(span: Span | undefined, work: (span?: Span) => Promise<T>): Promise<T> {
    if (span === undefined) return work()
    let hasFailed = true
    try {
      const result = await storage.run(span, work, span)
      hasFailed = false
      return result
    } finally {
      span.end({ hasFailed })
    }
  }

  return {
    begin,
    current: () => storage.getStore(),
    enter: span => storage.enterWith(span),
    run: (span, work) => storage.run(span, work),
    inSpan: (options, work) => {
      const parent = storage.getStore()
      return parent === undefined ? work() : runIn(begin(options, parent.context), work)
    },
    inTrace: (options, work, parent) => runIn(begin(options, parent), work)
  }
}
