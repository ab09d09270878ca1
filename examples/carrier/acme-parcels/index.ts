import { defineModule, provide, shippingLabelsPort, shippingModule, shippingRatesPort } from 'cartwright'
import { createAcmeClient } from './client.ts'
import { createAcmeLabels } from './labels.ts'
import { createAcmeRates } from './rates.ts'
import { acmeParcelsSettings } from './settings.ts'

export const acmeParcelsModule = defineModule({
  name: 'acme_parcels',
  description: 'Shipping rates and labels of Acme Parcels.',
  basePaths: [],
  settings: acmeParcelsSettings,
  requires: { shipping: shippingModule },
  uses: {},
  provides: [shippingRatesPort, shippingLabelsPort],
  setup: async ({ http }, { url, api_key: apiKey }) => {
    const send = createAcmeClient({ http, url, apiKey })
    const providers = [
      provide(shippingRatesPort, 'acme_parcels', createAcmeRates(send)),
      provide(shippingLabelsPort, 'acme_parcels', createAcmeLabels(send))
    ]
    return { api: {}, provides: apiKey === '' ? [] : providers }
  }
})
