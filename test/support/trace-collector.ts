import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
export type ExportedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  events: { name: string }[]
  status?: { code: number }
}
type MetricPoint = {
  attributes: Attribute[]
  asDouble?: number | string
  count?: string
  sum?: number | string
  explicitBounds?: number[]
  bucketCounts?: string[]
}
type MetricPoints = { dataPoints: MetricPoint[] }
type ExportedMetric = {
  name: string
  description: string
  unit?: string
  gauge?: MetricPoints
  sum?: MetricPoints
  histogram?: MetricPoints
}
/** One request with metrics. */
export type ExportedMetrics = {
  resourceMetrics: { resource: { attributes: Attribute[] }; scopeMetrics: { metrics: ExportedMetric[] }[] }[]
}
type ExportedTraces = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: ExportedSpan[] }[] }[]
}

/** A server that receives traces and metrics by OTLP at two paths, and other requests at all others. */
export async function useTraceCollector(status = 200) {
  const spans: ExportedSpan[] = []
  const metrics: ExportedMetrics[] = []
  const requests: { url: string | undefined; traceparent: unknown }[] = []
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/traces') {
      const { resourceSpans } = (await json(request)) as ExportedTraces
      spans.push(...resourceSpans.flatMap(each => each.scopeSpans.flatMap(scope => scope.spans)))
      response.statusCode = status
    } else if (request.url === '/v1/metrics') {
      metrics.push((await json(request)) as ExportedMetrics)
      response.statusCode = status
    } else requests.push({ url: request.url, traceparent: request.headers.traceparent })
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { spans, metrics, requests, url: `http://127.0.0.1:${port}` }
}
