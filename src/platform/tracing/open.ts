import { hostname } from 'node:os'
import type { Config } from '../core-settings.ts'
import type { RunningEventLog } from '../event-log/event-log.ts'
import type { HttpClient } from '../http/client.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Database } from '../postgres/database.ts'
import type { Timers } from '../timers.ts'
import { createSpanExporter } from './exporter.ts'
import { createStoredTraces } from './stored-traces.ts'
import { traceDatabase, traceEventLog, traceHttpClient, traceOutbox } from './traced-platform.ts'
import { createTracer } from './tracer.ts'

type Deps = { config: Config; log: Log; metrics: Metrics; http: Pick<HttpClient, 'send'> }

/** Records traces, and sends them to the collector of the configuration. */
export function openTracing({ config, log, metrics, http }: Deps) {
  const { url, sample_percent: samplePercent } = config.tracing
  const resource = {
    'service.name': 'cartwright',
    'service.instance.id': `${hostname()}:${process.pid}`,
    'deployment.environment.name': config.environment
  }
  const exporter = createSpanExporter({ url, http, log, metrics: metrics.prefixed('tracing'), resource })
  const tracer = createTracer({ samplePercent, onEnd: exporter.add })
  return {
    tracer,
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
    stop: exporter.stop
  }
}
