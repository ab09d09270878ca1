import type { HttpClient } from '../http/client.ts'
import type { Log } from '../log.ts'

/** Values of attributes. */
export type OtlpAttributes = Readonly<Record<string, string | number | undefined>>
export type SendOtlp = (readBody: () => object | Promise<object>) => Promise<'exported' | 'dropped'>

const TIMEOUT_MS = 5_000

type Deps = { url: string; signal: 'traces' | 'metrics'; http: Pick<HttpClient, 'send'>; log: Log }

/** Creates the function that sends one request to the collector by OTLP over HTTP, as JSON. It never rejects. */
export function createOtlpSender({ url, signal, http, log }: Deps): SendOtlp {
  let hasFailed = false
  const post = async (body: object) => {
    const { status } = await http.send({
      url: `${url.replace(/\/+$/, '')}/v1/${signal}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT_MS,
      isConfigured: true
    })
    if (status >= 300) throw new Error(`the collector answered with ${status}`)
  }
  return async readBody => {
    try {
      await post(await readBody())
      hasFailed = false
      return 'exported'
    } catch (error) {
      // Logged once for each outage.
      if (!hasFailed) log.warn({ err: error }, `${signal} could not be sent to the collector`)
      hasFailed = true
      return 'dropped'
    }
  }
}

/** 64-bit integers are strings in the JSON of protocol buffers. */
export const nanoseconds = (microseconds: number) => `${Math.round(microseconds)}000`

export const attributesJson = (attributes: OtlpAttributes) =>
  Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return []
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }]
  })
