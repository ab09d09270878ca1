import type { HttpClient } from '../../../platform/http/client.ts'
import { createPaymentIntentProvider } from './payment-intents.ts'
import type { PaymentProvider } from './port.ts'

const TIMEOUT_MS = 8_000
/** Comes after providers that move money when the shop chooses a provider. */
export const SANDBOX_NAME = 'sandbox'

type Deps = {
  http: HttpClient
  /** Returns the URL of the sandbox. The first call starts it. */
  address: () => Promise<string>
  key: string
  webhookSecrets: readonly string[]
  capture: 'automatic' | 'manual'
}

/** Adapter of the payment sandbox, which has the API of Stripe and moves no money. */
export function createSandboxPaymentProvider({
  http,
  address,
  key,
  webhookSecrets,
  capture
}: Deps): PaymentProvider {
  async function call(method: 'GET' | 'POST', path: string, body?: object, idempotencyKey?: string) {
    const { status, body: answer } = await http.send({
      url: (await address()) + path,
      method,
      timeoutMs: TIMEOUT_MS,
      isConfigured: true,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey })
      },
      ...(body && { body: JSON.stringify(body) })
    })
    return { status, json: JSON.parse(answer.toString()) as unknown }
  }

  return createPaymentIntentProvider({
    kind: 'redirect',
    supportsCurrency: () => true,
    get: path => call('GET', path),
    post: ({ path, body }, idempotencyKey) => call('POST', path, body, idempotencyKey),
    extras: { create: {}, every: {} },
    paymentPath: ({ id }) => `/v1/payment_intents?payment_id=${id}`,
    refundPath: ({ id }) => `/v1/refunds?operation_id=${id}`,
    next: async ({ id, client_secret }) => ({
      client_secret: client_secret ?? '',
      redirect_url: `${await address()}/pay/${id}?client_secret=${client_secret}`
    }),
    capture,
    signatureHeader: 'sandbox-signature',
    webhookSecrets
  })
}
