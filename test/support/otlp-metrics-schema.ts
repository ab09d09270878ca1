const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false
})
const listOf = (items: object) => ({ type: 'array', items })

/** 64-bit integers are strings of digits in the JSON of protocol buffers. */
const uint64 = { type: 'string', pattern: '^(?:0|[1-9][0-9]{0,19})$' }
const double = { anyOf: [{ type: 'number' }, { enum: ['NaN', 'Infinity', '-Infinity'] }] }
const text = { type: 'string' }
const attributes = listOf(
  object({ key: { type: 'string', minLength: 1 }, value: object({ stringValue: text }) })
)
const times = { startTimeUnixNano: uint64, timeUnixNano: uint64 }
const numbers = listOf(object({ attributes, ...times, asDouble: double }))
const histograms = listOf(
  object({
    attributes,
    ...times,
    count: uint64,
    sum: double,
    explicitBounds: listOf({ type: 'number' }),
    bucketCounts: listOf(uint64)
  })
)
const cumulative = { aggregationTemporality: { const: 2 } }
const described = { name: text, description: text, unit: { enum: ['s', 'By'] }, metadata: attributes }
const metric = (data: Record<string, object>) =>
  object({ ...described, ...data }, ['name', 'description', 'metadata', ...Object.keys(data)])

/**
 * What the shop uses of `ExportMetricsServiceRequest` (opentelemetry-proto 1.7, `metrics.proto`), with the rules of OTLP for
 * JSON: names in lower camel case, enums as numbers, 64-bit integers as strings.
 */
export const OTLP_METRICS_SCHEMA = object({
  resourceMetrics: listOf(
    object({
      resource: object({ attributes }),
      scopeMetrics: listOf(
        object({
          scope: object({ name: text }),
          metrics: listOf({
            oneOf: [
              metric({ sum: object({ ...cumulative, isMonotonic: { const: true }, dataPoints: numbers }) }),
              metric({ gauge: object({ dataPoints: numbers }) }),
              metric({ histogram: object({ ...cumulative, dataPoints: histograms }) })
            ]
          })
        })
      )
    })
  )
})
