import { join } from 'node:path'
import { type PortProvider, provide } from '../../../kernel/ports.ts'
import type { Config } from '../../../platform/core-settings.ts'
import type { HttpClient } from '../../../platform/http/client.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { PaymentsSettings } from '../settings.ts'
import { createManualPaymentProvider } from './manual.ts'
import { type PaymentProvider, paymentProviderPort } from './port.ts'
import { createSandboxPaymentProvider, SANDBOX_NAME } from './sandbox.ts'
import { createStripePaymentProvider } from './stripe.ts'

type Deps = {
  config: Config
  settings: PaymentsSettings
  http: HttpClient
  secrets: Secrets
}

/** Creates the built-in providers that the settings enable. `stop` stops the sandbox if it was started. */
export function createEnabledPaymentProviders({ config, settings, http, secrets }: Deps): {
  provides: readonly PortProvider<PaymentProvider>[]
  stop(): Promise<void>
} {
  const { sandbox } = settings
  const isDevelopment = config.environment === 'development'
  const key = secrets.mac('payments.sandbox', 'key')
  let opening: ReturnType<typeof openSandboxProcess> | undefined
  const sandboxAddress = async () => {
    opening ??= openSandboxProcess({ config, port: sandbox.port, key, secrets })
    return (await opening).address()
  }
  const sandboxProvider = createSandboxPaymentProvider({
    http,
    key,
    address: sandbox.url === '' ? sandboxAddress : async () => sandbox.url,
    webhookSecrets: secrets.everyMac('payments.sandbox', 'webhook'),
    capture: settings.capture
  })
  const manualProvider = createManualPaymentProvider({
    methods: settings.manual_methods,
    bankTransfer: settings.bank_transfer,
    isProduction: !isDevelopment
  })
  const { stripe, capture } = settings
  const isOffered = sandbox.mode !== 'off' && isDevelopment
  return {
    provides: [
      ...(stripe.secret_key === ''
        ? []
        : [
            provide(
              paymentProviderPort,
              'stripe',
              createStripePaymentProvider({ http, settings: stripe, capture })
            )
          ]),
      ...(isOffered ? [provide(paymentProviderPort, SANDBOX_NAME, sandboxProvider)] : []),
      provide(paymentProviderPort, 'manual', manualProvider)
    ],
    stop: async () => (await opening)?.stop()
  }
}

type SandboxProcessDeps = Pick<Deps, 'config' | 'secrets'> & { port: number; key: string }

/** Loads the payment sandbox only when a payment needs it, because production must not contain it. */
async function openSandboxProcess({ config, secrets, port, key }: SandboxProcessDeps) {
  const { createSandboxProcess } = await import('../../../payment-sandbox/child-process.ts')
  return createSandboxProcess(() => ({
    folder: join(config.data, 'sandbox'),
    port,
    key,
    webhook: { url: callbackUrl(config), secret: secrets.mac('payments.sandbox', 'webhook') }
  }))
}

/** The URL of the sandbox's webhooks, on this machine. Empty when the shop listens on a random port. */
const callbackUrl = ({ server }: Config): string =>
  server.port === 0 ? '' : `http://127.0.0.1:${server.port}/api/payments/callback/sandbox`
