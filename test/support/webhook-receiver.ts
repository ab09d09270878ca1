import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { CERTIFICATE, KEY } from './receiver-certificate.ts'

type Received = { headers: IncomingHttpHeaders; body: string; path: string }
type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** Responds with 500 and a Retry-After of an hour. */
export const broken: Reply = response => response.writeHead(500, { 'retry-after': '3600' }).end()

/** Receives webhooks over TLS. Responds with 204, with the next of `replies`, or with the reply set by `at` for its path. */
export async function useReceiver() {
  // Makes this process trust the certificate of the receiver until the test ends.
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, CERTIFICATE])
  const received: Received[] = []
  const replies: Reply[] = []
  const paths = new Map<string, Reply>()
  const server = createServer({ key: KEY, cert: CERTIFICATE }, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body, path: request.url ?? '' })
    const reply = paths.get(request.url ?? '') ?? replies.shift()
    if (reply === undefined) response.writeHead(204).end()
    else reply(response, request)
  })
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(
    () =>
      new Promise(resolve => {
        setDefaultCACertificates(trusted)
        server.close(() => resolve())
        server.closeAllConnections()
      })
  )
  return {
    url: `https://127.0.0.1:${port}/hooks`,
    port,
    received,
    replies,
    at: paths.set.bind(paths),
    /** Number of connections, whatever they sent. */
    connections: () => connections
  }
}
