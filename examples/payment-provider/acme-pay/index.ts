import { defineModule, paymentProviderPort, paymentsModule, provide } from 'cartwright'
import { createAcmePayProvider } from './provider.ts'
import { acmePaySettings } from './settings.ts'

export const acmePayModule = defineModule({
  name: 'acme_pay',
  description: 'Card payments by Acme Pay.',
  basePaths: [],
  settings: acmePaySettings,
  requires: { payments: paymentsModule },
  uses: {},
  provides: [paymentProviderPort],
  setup: async ({ http }, settings) => ({
    api: {},
    provides:
      settings.api_key === ''
        ? []
        : [
            provide(
              paymentProviderPort,
              'acme_pay',
              createAcmePayProvider({
                http,
                url: settings.url,
                apiKey: settings.api_key,
                webhookSecret: settings.webhook_secret,
                timeoutMs: settings.timeout_ms
              })
            )
          ]
  })
})
