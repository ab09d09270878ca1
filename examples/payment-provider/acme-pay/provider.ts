import type {
  ParsedPaymentProviderResponse,
  PaymentProvider,
  PaymentProviderOperation,
  Platform
} from 'cartwright'
import { createAcmePayCallbacks } from './callbacks.ts'
import { type AcmePayment, factsOf, isAcmePayment } from './objects.ts'

type Deps = {
  http: Platform['http']
  url: string
  apiKey: string
  webhookSecret: string
  timeoutMs: number
}
type Request = { readonly path: string; readonly body: object }

const DAY_SECONDS = 86_400
const CURRENCIES = ['EUR', 'USD', 'GBP']

/** Payments by Acme Pay, which authorizes or declines a card in its response. */
export function createAcmePayProvider({
  http,
  url,
  apiKey,
  webhookSecret,
  timeoutMs
}: Deps): PaymentProvider {
  async function call(method: 'GET' | 'POST', path: string, body?: object, key?: string) {
    const response = await http.send({
      url: url + path,
      method,
      timeoutMs,
      isConfigured: true,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key })
      },
      ...(body && { body: JSON.stringify(body) })
    })
    return { status: response.status, json: JSON.parse(response.body.toString()) as unknown }
  }
  const read = (draft: PaymentProviderOperation) =>
    readPayment(draft.payment.id).then(payment => payment && resultIn(draft, payment))

  /** @throws when Acme Pay does not respond */
  async function readPayment(reference: string): Promise<AcmePayment | null> {
    const { status, json } = await call('GET', `/payments/${reference}`)
    if (status === 404) return null
    if (status === 200 && isAcmePayment(json)) return json
    throw new Error(`Acme Pay responded ${status}`)
  }

  return {
    methods: ['card'],
    kind: 'redirect',
    supportsCurrency: currency => CURRENCIES.includes(currency),
    capturable: 'held',
    canCapturePart: true,
    idempotencyKeySeconds: DAY_SECONDS,
    prepare: draft => Buffer.from(JSON.stringify(requestOf(draft))),
    send: async (request, key) => {
      const { path, body } = JSON.parse(request.toString()) as Request
      const { status, json } = await call('POST', path, body, key)
      if (status === 402 || status === 409) return { kind: 'refused', error: errorOf(json), facts: [] }
      if (status === 200 && isAcmePayment(json)) return doneWith(json, key)
      // It may be done, so it is sent again with the same key.
      return { kind: 'unknown', error: `Acme Pay responded ${status}` }
    },
    fetch: async ({ id }) => {
      const payment = await readPayment(id)
      return payment && doneWith(payment)
    },
    find: read,
    callbacks: createAcmePayCallbacks(webhookSecret)
  }
}

function requestOf({ kind, amount, payment }: PaymentProviderOperation): Request {
  const path = `/payments/${payment.objectId}`
  const { id: reference, currency } = payment
  switch (kind) {
    case 'create':
      return { path: '/payments', body: { reference, amount, currency } }
    case 'capture':
      return { path: `${path}/capture`, body: { amount } }
    case 'void':
      return { path: `${path}/void`, body: {} }
    case 'refund':
      return { path: `${path}/refunds`, body: { amount } }
  }
}

/** `key`: of a refund, whose id is returned. */
function doneWith(payment: AcmePayment, key?: string): ParsedPaymentProviderResponse {
  const refund = payment.refunds.find(each => each.key === key)
  return {
    kind: 'done',
    paymentObjectId: payment.id,
    ...(refund && { objectId: refund.id }),
    facts: factsOf(payment),
    ...(payment.page !== null && { next: { redirect_url: payment.page } })
  }
}

/** Reads from the payment whether an operation was done. Null: it was not. */
function resultIn(
  { id, kind }: PaymentProviderOperation,
  payment: AcmePayment
): ParsedPaymentProviderResponse | null {
  const { status, refunds } = payment
  if (kind === 'create') return doneWith(payment)
  if (kind === 'refund') return refunds.some(({ key }) => key === id) ? doneWith(payment, id) : null
  if (status === (kind === 'capture' ? 'captured' : 'voided')) return doneWith(payment)
  const isClosed = status === 'captured' || status === 'voided'
  return isClosed ? { kind: 'refused', error: 'the payment is closed', facts: factsOf(payment) } : null
}

const errorOf = (json: unknown): string => String((json as { error?: unknown } | null)?.error ?? 'refused')
