import type { HttpClient } from '../../../platform/http/client.ts'
import { createPaymentIntentProvider } from './payment-intents.ts'
import type { PaymentProvider } from './port.ts'

const TIMEOUT_MS = 8_000
const EXPANDED = ['latest_charge.refunds']
const QUERY = EXPANDED.map(path => `expand[]=${path}`).join('&')
/** Stripe's minor units of these currencies differ from ISO 4217, so that amounts would be wrong by a factor of 100. */
const OTHER_UNITS = ['ISK', 'MGA', 'UGX']

type Deps = {
  http: HttpClient
  settings: {
    readonly secret_key: string
    readonly publishable_key: string
    readonly webhook_secrets: readonly string[]
    /** Base URL of the API. Empty: Stripe's own. */
    readonly url: string
  }
  capture: 'automatic' | 'manual'
}

/** Stripe, through its own client. The client is large, so it is loaded with the first payment. */
export function createStripePaymentProvider({ http, settings, capture }: Deps): PaymentProvider {
  let opening: ReturnType<typeof open> | undefined
  const client = () => {
    opening ??= open({ http, settings })
    return opening
  }

  async function call(method: 'GET' | 'POST', path: string, body?: object, idempotencyKey?: string) {
    const { stripe, StripeError } = await client()
    const options = idempotencyKey === undefined ? {} : { idempotencyKey }
    try {
      return { status: 200, json: await stripe.rawRequest(method, path, { ...body }, options) }
    } catch (error) {
      if (!(error instanceof StripeError) || error.statusCode === undefined) throw error
      return { status: error.statusCode, json: { error: error.raw } }
    }
  }

  return createPaymentIntentProvider({
    kind: 'client',
    publishableKey: settings.publishable_key,
    supportsCurrency: currency => !OTHER_UNITS.includes(currency),
    get: path => call('GET', path),
    post: ({ path, body }, idempotencyKey) => call('POST', path, body, idempotencyKey),
    extras: { create: { automatic_payment_methods: { enabled: true } }, every: { expand: EXPANDED } },
    paymentPath: ({ id, objectId }) =>
      objectId === null
        ? `/v1/payment_intents/search?query=${encodeURIComponent(`metadata['payment_id']:'${id}'`)}`
        : `/v1/payment_intents/${objectId}?${QUERY}`,
    refundPath: ({ payment }) => `/v1/refunds?payment_intent=${payment.objectId}&limit=100`,
    next: ({ client_secret }) => ({ client_secret: client_secret ?? '' }),
    capture,
    signatureHeader: 'stripe-signature',
    webhookSecrets: settings.webhook_secrets
  })
}

async function open({ http, settings: { secret_key, url } }: Pick<Deps, 'http' | 'settings'>) {
  const { default: Stripe } = await import('stripe')
  const at = url === '' ? undefined : new URL(url)
  const protocol = at?.protocol === 'http:' ? 'http' : 'https'
  const stripe = new Stripe(secret_key, {
    // Stripe's client must not retry, because the shop retries operations with growing pauses.
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
    httpClient: throughOurs(http),
    ...(at && { host: at.hostname, port: at.port || (protocol === 'http' ? 80 : 443), protocol })
  })
  return { stripe, StripeError: Stripe.errors.StripeError }
}

/** Adapts the shop's HTTP client to the interface of Stripe's client. */
const throughOurs = (http: HttpClient) => ({
  getClientName: () => 'cartwright',
  makeRequest: async (
    ...[host, port, path, method, headers, body, protocol, timeoutMs]: [
      ...[string, string, string, string, object, string, string, number]
    ]
  ) => {
    const answer = await http.send({
      url: `${protocol}://${host}:${port}${path}`,
      method: method as 'GET' | 'POST',
      // The shop's HTTP client sets Content-Length itself.
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-length')
      ),
      timeoutMs,
      isConfigured: true,
      ...(method === 'POST' && { body })
    })
    return {
      getStatusCode: () => answer.status,
      getHeaders: () => answer.headers,
      getRawResponse: () => answer,
      toStream: () => answer.body,
      toJSON: async () => JSON.parse(answer.body.toString())
    }
  }
})
