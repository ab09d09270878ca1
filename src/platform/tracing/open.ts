import { hostname } from 'node:os'
import type { Config } from '../core-settings.ts'
import type { RunningEventLog } from '../event-log/event-log.ts'
import type { HttpClient } from '../http/client.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../postgres/database.ts'
import type { Timers } from '../timers.ts'
import type { MeasurableWorker } from '../worker-link.ts'
import { createSpanExporter } from './exporter.ts'
import { createOtlpSender } from './otlp.ts'
import { createStoredTraces } from './stored-traces.ts'
import { traceDatabase, traceEventLog, traceHttpClient, traceOutbox } from './traced-platform.ts'
import { createTracer } from './tracer.ts'

type Deps = { config: Config; log: Log; metrics: Metrics; http: Pick<HttpClient, 'send'> }

/** Records traces, and sends them, and metrics if they are wanted, to the collector of the configuration. */
export async function openTracing({ config, log, metrics: registry, http }: Deps) {
  const { url, sample_percent: samplePercent, metrics_seconds: seconds } = config.tracing
  const metrics = registry.prefixed('tracing')
  const resource = {
    'service.name': 'cartwright',
    'service.instance.id': `${hostname()}:${process.pid}`,
    'deployment.environment.name': config.environment
  }
  const senderOf = (signal: 'traces' | 'metrics') => createOtlpSender({ url, signal, http, log })
  const exporter = createSpanExporter({ send: senderOf('traces'), metrics, resource })
  const tracer = createTracer({ samplePercent, onEnd: exporter.add })
  const metricsExporter = seconds === 0 ? undefined : await import('./metrics-exporter.ts')
  const stops = [exporter.stop]
  return {
    tracer,
    /** Sends the metrics that `collect` returns; `undefined` if they are not wanted. */
    exportMetrics:
      metricsExporter &&
      ((collect: MeasurableWorker['collect']): void => {
        const deps = { collect, send: senderOf('metrics'), metrics, resource }
        stops.push(metricsExporter.startMetricsExport(deps, seconds))
      }),
    traceDatabase: (db: Database) => traceDatabase(db, tracer),
    /** `db`: without spans, because a request waits for none of these statements. */
    openStoredTraces: (db: Database, timers: Timers) => {
      const traces = createStoredTraces({ db, tracer, timers })
      return {
        traces,
        traceHttpClient: (client: HttpClient) => traceHttpClient(client, tracer, traces),
        traceOutbox: (outbox: Outbox) => traceOutbox(outbox, tracer, traces),
        traceEventLog: (eventLog: RunningEventLog) => traceEventLog(eventLog, traces)
      }
    },
    /** Adds a statement to the span of its transaction. A statement outside of transactions has a span. */
    noteStatement: (name: string): void => {
      const span = tracer.current()
      if (span !== undefined && span.name !== name) span.addEvent(name)
    },
    stop: () => Promise.all(stops.map(stop => stop()))
  }
}
