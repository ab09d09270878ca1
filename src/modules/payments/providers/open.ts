import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import type { HttpClient } from '../../../platform/http/client.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { createSandboxProcess } from '../sandbox/process.ts'
import type { PaymentsSettings } from '../settings.ts'
import { createManualProvider } from './manual.ts'
import { createProviders } from './registry.ts'
import { createSandboxProvider } from './sandbox.ts'
import { createStripeProvider } from './stripe.ts'

type Deps = {
  config: Config
  settings: PaymentsSettings
  http: HttpClient
  secrets: Secrets
  /** One of them answers again. */
  onBack: (name: string) => void
}

/** The providers that are offered here, the default one first. */
export function openProviders({ config, settings, http, secrets, onBack }: Deps) {
  const { sandbox, default_provider: usual } = settings
  const isDevelopment = config.environment === 'development'
  const key = secrets.mac('payments.sandbox', 'key')
  const sandboxProcess = createSandboxProcess(() => ({
    folder: join(config.data, 'sandbox'),
    port: sandbox.port,
    key,
    webhook: { url: callbackUrl(config), secret: secrets.mac('payments.sandbox', 'webhook') }
  }))
  const sandboxProvider = createSandboxProvider({
    http,
    key,
    address: sandbox.url === '' ? sandboxProcess.address : async () => sandbox.url,
    webhookSecrets: secrets.everyMac('payments.sandbox', 'webhook'),
    capture: settings.capture
  })
  const manualProvider = createManualProvider({
    methods: settings.manual_methods,
    bankTransfer: settings.bank_transfer,
    isProduction: !isDevelopment
  })
  const { stripe, capture } = settings
  const isOffered = sandbox.mode !== 'off' && isDevelopment
  const all = [
    ...(stripe.secret_key === '' ? [] : [createStripeProvider({ http, settings: stripe, capture })]),
    ...(isOffered ? [sandboxProvider] : []),
    manualProvider
  ]
  const usualFirst = all.toSorted((a, b) => Number(b.name === usual) - Number(a.name === usual))
  return { providers: createProviders(usualFirst, onBack), stop: sandboxProcess.stop }
}

/** Where the sandbox calls back, on this machine; nowhere when nobody can know the port. */
const callbackUrl = ({ server }: Config): string =>
  server.port === 0 ? '' : `http://127.0.0.1:${server.port}/api/payments/callback/sandbox`
