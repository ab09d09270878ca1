import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { CERTIFICATE, KEY } from './receiver-certificate.ts'

type Received = { headers: IncomingHttpHeaders; body: string; path: string }
type Reply = (response: ServerResponse, request: IncomingMessage) => void

/** It does not work; whoever wants to try again does so in an hour. */
export const broken: Reply = response => response.writeHead(500, { 'retry-after': '3600' }).end()

/** Takes webhooks over TLS, and answers 204, or what `replies` says next; `at` a path always the same. */
export async function useReceiver() {
  // What this process trusts beside all else.
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
    ...{ url: `https://127.0.0.1:${port}/hooks`, port, received, replies },
    at: paths.set.bind(paths),
    /** How often somebody has connected, whatever they said then. */
    connections: () => connections
  }
}
