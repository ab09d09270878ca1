import type { Platform } from 'cartwright'

type Deps = { http: Platform['http']; url: string; apiKey: string }
type AcmeRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly signal: AbortSignal
}
/** Sends a request to Acme Parcels. Rejects when there is no answer, and when `signal` is aborted. */
export type SendToAcme = (
  request: AcmeRequest
) => Promise<{ readonly status: number; readonly json: unknown }>

export const createAcmeClient =
  ({ http, url, apiKey }: Deps): SendToAcme =>
  async ({ method, path, body, signal }) => {
    const { status, body: content } = await http.send({
      url: url + path,
      method,
      signal,
      isConfigured: true,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' })
      },
      ...(body && { body: JSON.stringify(body) })
    })
    if (status >= 500) throw unexpected(status)
    return { status, json: content.length === 0 ? null : JSON.parse(content.toString()) }
  }

/** For an answer that is no result of the request, such as 401 or 503. */
export const unexpected = (status: number) => new Error(`Acme Parcels responded ${status}`)

/** The services of Acme Parcels by their codes, with the names that buyers see. */
export const SERVICES: Readonly<Record<string, string>> = {
  standard: 'Acme Standard',
  express: 'Acme Express'
}
export const CARRIER = 'Acme Parcels'
