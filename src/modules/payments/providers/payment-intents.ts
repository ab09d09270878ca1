import type { PaymentFact } from '../facts/fact.ts'
import type {
  CustomerPaymentStep,
  ParsedPaymentProviderResponse,
  PaymentForProvider,
  PaymentProvider,
  PaymentProviderEvent,
  PaymentProviderOperation,
  UnreadablePaymentProviderObject
} from './port.ts'
import {
  factOfStripeRefund,
  factsOfStripeIntent,
  isStripeEvent,
  isStripeList,
  isStripePaymentIntent,
  isStripeRefund,
  readListedStripeObject,
  readStripeEvent,
  type StripeIntentObject
} from './stripe-objects.ts'
import { verifyStripeSignature } from './stripe-signature.ts'

const DAY_SECONDS = 86_400
/** Providers forget keys after a day. An operation that is nearly as old is searched instead of sent again. */
const KEY_SECONDS = DAY_SECONDS - 3_600
/** Longest time between an authorization and its capture, in seconds. */
const HELD_SECONDS = 7 * DAY_SECONDS

/** Largest page of Stripe's lists. */
const PAGE = 100

type Request = { readonly path: string; readonly body: object }
type ApiResponse = { readonly status: number; readonly json: unknown }

/** HTTP client of an API with payment intents, as Stripe has it. */
type IntentApi = Pick<PaymentProvider, 'kind' | 'publishableKey' | 'supportsCurrency'> & {
  /** Sends a request to the provider. @throws when no response arrives. */
  get(path: string): Promise<ApiResponse>
  post(request: Request, key: string): Promise<ApiResponse>
  /** Additional request fields: those of a payment's creation, and those of every request. */
  readonly extras: { readonly create: object; readonly every: object }
  /** Path of a payment, or of a refund: of the object, or of a list that contains it. */
  paymentPath(payment: PaymentForProvider): string
  refundPath(refund: PaymentProviderOperation): string
  next(intent: StripeIntentObject): Promise<CustomerPaymentStep> | CustomerPaymentStep
  readonly capture: 'automatic' | 'manual'
  readonly signatureHeader: string
  readonly webhookSecrets: readonly string[]
}

/** Payment provider over an API with payment intents: builds requests and reads responses and webhooks. */
export function createPaymentIntentProvider(api: IntentApi): PaymentProvider {
  const { kind, publishableKey, supportsCurrency, extras, capture, signatureHeader, webhookSecrets } = api

  /** Converts a response. Without a readable response the operation may have been done, so it is unknown. */
  async function responseOf({ status, json }: ApiResponse): Promise<ParsedPaymentProviderResponse> {
    // A wrong key or a rate limit fails no payment: the operation is retried.
    if (status >= 500 || [401, 403, 409, 429].includes(status))
      return { kind: 'unknown', error: `responded ${status}: ${errorOf(json)}` }
    if (status >= 400) return { kind: 'refused', error: errorOf(json), facts: factsOfRefusal(json) }
    if (isStripePaymentIntent(json)) {
      const done = { kind: 'done', paymentObjectId: json.id, facts: factsOfStripeIntent(json) } as const
      return json.client_secret === null ? done : { ...done, next: await api.next(json) }
    }
    if (isStripeRefund(json) && json.payment_intent !== null)
      return {
        kind: 'done',
        paymentObjectId: json.payment_intent,
        objectId: json.id,
        facts: [factOfStripeRefund(json)]
      }
    return { kind: 'unknown', error: 'the response is not readable' }
  }
  const unknownResult = (error: unknown): ParsedPaymentProviderResponse => ({
    kind: 'unknown',
    error: String(error)
  })

  /** Reads an object, or the element of a list for which `isWanted` is true. Returns null when there is none. */
  async function read(
    path: string,
    isWanted: (object: unknown) => boolean
  ): Promise<ParsedPaymentProviderResponse | null> {
    const response = await api.get(path)
    if (response.status === 404) return null
    if (response.status !== 200) throw new Error(`responded ${response.status}: ${errorOf(response.json)}`)
    const { data } = (response.json ?? {}) as { data?: unknown }
    const json = Array.isArray(data) ? data.find(isWanted) : response.json
    return json === undefined ? null : responseOf({ ...response, json })
  }
  const fetch = (payment: PaymentForProvider) =>
    read(api.paymentPath(payment), isStripePaymentIntent).catch(unknownResult)
  const findRefund = (draft: PaymentProviderOperation) =>
    read(
      api.refundPath(draft),
      object => isStripeRefund(object) && object.metadata?.operation_id === draft.id
    ).catch(unknownResult)

  /** Reads all pages, latest first. */
  async function* listPages(path: string): AsyncGenerator<{ readonly id: string }> {
    for (let cursor = ''; ; ) {
      const { status, json } = await api.get(`${path}${cursor}`)
      if (status !== 200) throw new Error(`responded ${status}: ${errorOf(json)}`)
      if (!isStripeList(json)) throw new Error('the response is not readable')
      yield* json.data
      const last = json.data.at(-1)
      if (!json.has_more || last === undefined) return
      cursor = `&starting_after=${encodeURIComponent(last.id)}`
    }
  }
  /** Includes payments that started before `since`, because they may have been captured after it. */
  async function* list(since: Date): AsyncGenerator<PaymentProviderEvent | UnreadablePaymentProviderObject> {
    const seconds = Math.floor(since.getTime() / 1_000)
    const at = (kind: string, from: number) => `/v1/${kind}?limit=${PAGE}&created[gte]=${from}`
    const intents = `${at('payment_intents', seconds - HELD_SECONDS)}&expand[]=data.latest_charge.refunds`
    for (const path of [intents, at('refunds', seconds), at('disputes', seconds)])
      for await (const object of listPages(path)) yield readListedStripeObject(object)
  }

  return {
    methods: ['card'],
    kind,
    ...(publishableKey !== undefined && { publishableKey }),
    supportsCurrency,
    capturable: 'held',
    canCapturePart: true,
    idempotencyKeySeconds: KEY_SECONDS,
    prepare: draft => {
      const { path, body } = requestOf(draft, capture)
      const extra = draft.kind === 'create' ? extras.create : {}
      const every = draft.kind === 'refund' ? {} : extras.every
      return Buffer.from(JSON.stringify({ path, body: { ...body, ...extra, ...every } }))
    },
    send: (request, key) =>
      api
        .post(JSON.parse(request.toString()) as Request, key)
        .then(responseOf)
        .catch(unknownResult),
    fetch,
    list,
    find: async draft =>
      draft.kind === 'refund' ? findRefund(draft) : resultIn(draft, await fetch(draft.payment)),
    callbacks: {
      verify: (raw, headers, now) =>
        verifyStripeSignature(webhookSecrets, headers[signatureHeader], raw, now),
      read: raw => {
        const event = parse(raw)
        return isStripeEvent(event)
          ? readStripeEvent(event)
          : { kind: 'unreadable', error: 'the body is not an event' }
      }
    }
  }
}

function requestOf(
  { id, kind, amount, payment }: PaymentProviderOperation,
  capture: 'automatic' | 'manual'
): Request {
  const metadata = { order_id: payment.orderId, payment_id: payment.id, operation_id: id }
  const intent = `/v1/payment_intents/${payment.objectId}`
  switch (kind) {
    case 'create': {
      const currency = payment.currency.toLowerCase()
      return { path: '/v1/payment_intents', body: { amount, currency, capture_method: capture, metadata } }
    }
    case 'capture':
      return { path: `${intent}/capture`, body: { amount_to_capture: amount } }
    case 'void':
      return { path: `${intent}/cancel`, body: {} }
    case 'refund':
      return { path: '/v1/refunds', body: { payment_intent: payment.objectId, amount, metadata } }
  }
}
/** Reads from the payment whether a capture or a void was done. */
function resultIn(
  { kind }: PaymentProviderOperation,
  response: ParsedPaymentProviderResponse | null
): ParsedPaymentProviderResponse | null {
  if (response?.kind !== 'done' || kind === 'create') return response
  const { facts } = response
  const is = (status: string) => facts.some(fact => fact.kind === 'intent' && fact.status === status)
  if (kind === 'capture' ? is('succeeded') : is('canceled')) return response
  // The payment is closed otherwise, or the request for a capture or void did not arrive.
  return is('succeeded') || is('canceled') ? { kind: 'refused', error: 'the payment is closed', facts } : null
}

/** Reads the facts of the payment that a rejection contains. */
function factsOfRefusal(json: unknown): PaymentFact[] {
  const { error } = (json ?? {}) as { error?: { payment_intent?: unknown } }
  return isStripePaymentIntent(error?.payment_intent) ? factsOfStripeIntent(error.payment_intent) : []
}
function errorOf(json: unknown): string {
  const { error } = (json ?? {}) as { error?: { code?: string; message?: string } }
  return [error?.code, error?.message].filter(part => part !== undefined).join(': ') || 'refused'
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString())
  } catch {
    return undefined
  }
}
