import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { signatureOf } from './acme-pay/callbacks.ts'
import type { AcmePayment } from './acme-pay/objects.ts'

export const API_KEY = 'key of the tests'
export const WEBHOOK_SECRET = 'secret of the tests'

/** What the service does with the next request. `slow`, `lost`: it does the work, and does not answer in time, or closes the connection. */
export type Outcome = 'authorized' | 'declined' | 'needs_action' | 'slow' | 'lost'
type Answer = { readonly status: number; readonly body: object }
type Sent = { readonly reference: string; readonly amount: number; readonly currency: string }

/** Starts a service with the API of Acme Pay. */
export async function startFakeAcmePay() {
  const payments = new Map<string, AcmePayment>()
  const answers = new Map<string, Answer>()
  const outcomes: Outcome[] = []

  const save = (payment: AcmePayment): Answer => {
    payments.set(payment.id, payment)
    return { status: 200, body: payment }
  }
  function create({ reference, amount, currency }: Sent, outcome: Outcome): Answer {
    if (outcome === 'declined') return { status: 402, body: { error: 'card_declined' } }
    const id = randomUUID()
    const isOpen = outcome === 'needs_action'
    return save({
      id,
      reference,
      status: isOpen ? 'needs_action' : 'authorized',
      amount,
      captured: 0,
      currency,
      page: isOpen ? `https://acme-pay.example/${id}` : null,
      refunds: []
    })
  }
  function change(payment: AcmePayment, action: string, amount: number, key: string): Answer {
    const { status, captured, refunds } = payment
    const refunded = refunds.reduce((sum, each) => sum + each.amount, 0)
    if (action === 'void' && status === 'voided') return save(payment)
    if (action === 'capture' && status === 'authorized')
      return save({ ...payment, status: 'captured', captured: amount })
    if (action === 'void' && status !== 'captured') return save({ ...payment, status: 'voided', page: null })
    if (action === 'refunds' && refunded + amount <= captured)
      return save({ ...payment, refunds: [...refunds, { id: randomUUID(), key, amount }] })
    return { status: 409, body: { error: `not possible: ${action}` } }
  }

  const server = createServer(async (request, response) => {
    const [, , id = '', action = ''] = (request.url ?? '').split('/')
    const send = ({ status, body }: Answer) => response.writeHead(status).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return send({ status: 401, body: { error: 'wrong key' } })
    if (request.method === 'GET') {
      const found = [...payments.values()].find(({ reference }) => reference === id)
      return send(found ? { status: 200, body: found } : { status: 404, body: {} })
    }
    const sent = (await json(request)) as Sent
    const key = String(request.headers['idempotency-key'])
    const outcome = outcomes.shift() ?? 'authorized'
    const payment = payments.get(id)
    const answer =
      answers.get(key) ?? (payment ? change(payment, action, sent.amount, key) : create(sent, outcome))
    answers.set(key, answer)
    if (outcome === 'lost') return request.socket.destroy()
    if (outcome === 'slow') return
    return send(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments: () => [...payments.values()],
    next: (outcome: Outcome) => void outcomes.push(outcome),
    /** The customer confirms the payment on the page of Acme Pay. */
    confirm: (payment: AcmePayment) => save({ ...payment, status: 'authorized', page: null }),
    callbackOf: (payment: AcmePayment | undefined, at: Date) => {
      const raw = Buffer.from(JSON.stringify({ id: randomUUID(), type: 'payment.changed', payment }))
      const seconds = Math.floor(at.getTime() / 1_000)
      return { raw, headers: { 'acme-signature': `${seconds}.${signatureOf(WEBHOOK_SECRET, seconds, raw)}` } }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
