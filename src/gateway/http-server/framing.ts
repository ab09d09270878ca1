import type { IncomingMessage } from 'node:http'
import { malformedRequestError } from '../errors.ts'
import type { Problem } from '../problem.ts'

const HOST = 'host'
const TRANSFER_ENCODING = 'transfer-encoding'

const malformed = (detail: string): Problem => ({ status: 400, code: malformedRequestError.code, detail })

/**
 * Returns a problem for requests that a proxy may parse differently than Node, because this allows request smuggling.
 * These are requests with more than one Host (RFC 9112, section 3.2), or a Transfer-Encoding other than `chunked`
 * (sections 6.1, 6.3). The caller closes the connection, because the start of the next request is uncertain.
 */
export function findFramingProblem({ rawHeaders, httpVersionMinor }: IncomingMessage): Problem | undefined {
  let hosts = 0
  let coding: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts += 1
    else if (name.length === TRANSFER_ENCODING.length && name.toLowerCase() === TRANSFER_ENCODING) {
      if (coding !== undefined) return malformed('The request has more than one Transfer-Encoding.')
      coding = (rawHeaders[index + 1] as string).trim().toLowerCase()
    }
  }
  if (hosts > 1) return malformed('The request has more than one header Host.')
  if (coding === undefined || (coding === 'chunked' && httpVersionMinor > 0)) return undefined
  if (httpVersionMinor === 0) return malformed('HTTP/1.0 has no Transfer-Encoding.')
  const codings = coding.split(',').map(each => each.trim())
  const isFramed = codings.at(-1) === 'chunked' && codings.indexOf('chunked') === codings.length - 1
  if (!isFramed) return malformed('The last Transfer-Encoding must be chunked, and only the last.')
  return {
    status: 501,
    code: malformedRequestError.code,
    detail: 'The only supported Transfer-Encoding is chunked.'
  }
}
