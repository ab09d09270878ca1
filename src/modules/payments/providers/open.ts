import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import { OperatorError } from '../../../kernel/errors.ts'
import type { SettingsOf } from '../../../kernel/settings.ts'
import type { HttpClient } from '../../../platform/http/client.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { createSandboxProcess } from '../sandbox/process.ts'
import type { paymentsSettings } from '../settings.ts'
import { createManualProvider } from './manual.ts'
import { createProviders } from './registry.ts'
import { createSandboxProvider } from './sandbox.ts'
import { createStripeProvider } from './stripe.ts'

type Settings = SettingsOf<typeof paymentsSettings>
type Deps = {
  config: Config
  settings: Settings
  http: HttpClient
  secrets: Secrets
  /** One of them answers again. */
  onBack: (name: string) => void
}

/** Those who can be paid here, the usual one first. @throws OperatorError for what cannot be offered. */
export function openProviders({ config, settings, http, secrets, onBack }: Deps) {
  const { sandbox, default_provider: usual } = settings
  const isDevelopment = config.environment === 'development'
  if (sandbox.mode === 'on' && !isDevelopment)
    throw new OperatorError(
      'The sandbox takes no money, so production refuses it: set payments.sandbox.mode: off (or leave it out).'
    )
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
  if (stripe.secret_key !== '' && stripe.webhook_secrets.length === 0)
    throw new OperatorError(
      'payments.stripe has a secret_key and no webhook_secrets: nobody could tell its callbacks from others.'
    )
  const isOffered = sandbox.mode !== 'off' && isDevelopment
  const all = [
    ...(stripe.secret_key === '' ? [] : [createStripeProvider({ http, settings: stripe, capture })]),
    ...(isOffered ? [sandboxProvider] : []),
    manualProvider
  ]
  if (usual !== 'auto' && !all.some(({ name }) => name === usual))
    throw new OperatorError(
      `payments.default_provider: ${usual} is not offered here; choose one that is, or auto.`
    )
  const usualFirst = all.toSorted((a, b) => Number(b.name === usual) - Number(a.name === usual))
  return { providers: createProviders(usualFirst, onBack), stop: sandboxProcess.stop }
}

/** Where the sandbox calls back, on this machine; nowhere when nobody can know the port. */
const callbackUrl = ({ server }: Config): string =>
  server.port === 0 ? '' : `http://127.0.0.1:${server.port}/api/payments/callback/sandbox`
