import { randomBytes } from 'node:crypto'

// Version, trace, parent and flags (W3C Trace Context, 3.2). Ids of only zeros and version ff are invalid.
const TRACEPARENT = /^(?!ff)[\da-f]{2}-((?!0{32})[\da-f]{32})-((?!0{16})[\da-f]{16})-([\da-f]{2})$/
const SAMPLED_FLAG = 1

/** A span in a trace, as processes pass it on. */
export type TraceContext = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean }

/** Reads the header `traceparent`. Returns undefined for anything that is not valid. */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  const [, traceId, spanId, flags = ''] = (typeof header === 'string' && TRACEPARENT.exec(header)) || []
  if (traceId === undefined || spanId === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0 }
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')
