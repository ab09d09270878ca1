import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { AcceptedMessage, ExternalServiceFailure, TransportFailure } from 'cartwright/testing'

export const API_KEY = 'key of the tests'
const RATE_PPM = 70_000

type Failure = ExternalServiceFailure | TransportFailure
type Answer = { readonly status: number; readonly body: object }
type Basket = { readonly prices_include_tax: boolean; readonly items: readonly { readonly amount: number }[] }
type Address = { readonly address: string }
type Message = { readonly id: string; readonly from: Address; readonly to: Address } & Pick<
  AcceptedMessage,
  'subject' | 'text' | 'html'
>

const FAILURES: Readonly<Record<'error' | Exclude<TransportFailure, 'hang'>, Answer>> = {
  error: { status: 503, body: { reason: 'busy' } },
  temporary: { status: 429, body: { reason: 'busy' } },
  permanent: { status: 400, body: { reason: 'rejected' } },
  unknown_recipient: { status: 400, body: { reason: 'unknown_recipient' } }
}

/** Starts a service with the APIs of Acme Tax and Acme Mail. */
export async function startFakeServices() {
  const messages = new Map<string, AcceptedMessage>()
  const failures: Failure[] = []
  const waiting: ServerResponse[] = []
  let hanging = Promise.withResolvers<void>()

  function computeTaxes({ items, prices_include_tax }: Basket): Answer {
    const taxOf = (amount: number) =>
      Math.round((amount * RATE_PPM) / (prices_include_tax ? 1_000_000 + RATE_PPM : 1_000_000))
    return {
      status: 200,
      body: { taxes: items.map(({ amount }) => ({ rate_ppm: RATE_PPM, tax: taxOf(amount) })) }
    }
  }
  function acceptMessage({ id: messageId, from, to, subject, text, html }: Message): Answer {
    messages.set(messageId, { messageId, from: from.address, to: to.address, subject, text, html })
    return { status: 202, body: {} }
  }

  const server = createServer(async (request, response) => {
    const send = ({ status, body }: Answer) => response.writeHead(status).end(JSON.stringify(body))
    const isMail = request.url === '/messages'
    if (isMail && request.headers.authorization !== `Bearer ${API_KEY}`)
      return send({ status: 401, body: { reason: 'wrong key' } })
    const sent = await json(request)
    const failure = failures.shift()
    if (failure === 'hang') {
      waiting.push(response)
      return hanging.resolve()
    }
    if (failure !== undefined && failure !== 'lost') return send(FAILURES[failure])
    const answer = isMail ? acceptMessage(sent as Message) : computeTaxes(sent as Basket)
    return failure === 'lost' ? request.socket.destroy() : send(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: () => [...messages.values()],
    clearMessages: () => messages.clear(),
    failNext: (failure: Failure) => {
      failures.push(failure)
      hanging = Promise.withResolvers()
    },
    untilHanging: () => hanging.promise,
    /** Ends all hanging requests without an answer. */
    resume: () => {
      for (const response of waiting.splice(0)) response.destroy()
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
