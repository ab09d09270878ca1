import { once } from 'node:events'
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse
} from 'node:http'
import type { AddressInfo } from 'node:net'

export type Balancer = { origin: string; use(addresses: string[]): void; close(): Promise<void> }

const PROBE_EVERY_MS = 50

/**
 * A load balancer that works like common ones. It sends requests in turn to each process whose last `/readyz` was
 * 200, or if there is none, to each that answered, over connections that it keeps alive. It never tries a request twice.
 */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  let known: string[] = []
  let ready: string[] = []
  let alive: string[] = []
  let turn = 0

  const probe = async () => {
    const asked = await Promise.all(known.map(async address => [address, await statusOf(address)] as const))
    ready = asked.filter(([, status]) => status === 200).map(([address]) => address)
    alive = asked.filter(([, status]) => status !== undefined).map(([address]) => address)
  }
  const timer = setInterval(probe, PROBE_EVERY_MS)

  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    turn += 1
    const usable = ready.length > 0 ? ready : alive
    const address = usable[turn % usable.length]
    const fail = () => {
      if (!outgoing.headersSent) outgoing.writeHead(502)
      outgoing.end()
    }
    if (address === undefined) return fail()
    const { method = 'GET', url = '/', headers } = incoming
    const { connection: _, ...handedOn } = headers
    const upstream = httpRequest(new URL(url, address), { method, headers: handedOn, agent })
    upstream.on('error', fail)
    upstream.on('response', response => {
      const { connection: _ours, 'keep-alive': _theirs, ...others } = response.headers
      outgoing.writeHead(response.statusCode ?? 502, others)
      response.on('error', fail)
      response.pipe(outgoing)
    })
    incoming.pipe(upstream)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: addresses => {
      known = addresses
    },
    close: async () => {
      clearInterval(timer)
      agent.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

const statusOf = (address: string): Promise<number | undefined> =>
  fetch(`${address}/readyz`).then(
    async response => {
      await response.arrayBuffer()
      return response.status
    },
    () => undefined
  )
