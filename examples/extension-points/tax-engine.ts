import {
  defineModule,
  type Platform,
  pricingModule,
  provide,
  settings,
  type TaxEngine,
  taxEnginePort
} from 'cartwright'

/** A tax as Acme Tax returns it, in the order of the items. */
type AcmeTax = { readonly rate_ppm: number; readonly tax: number }

export const createAcmeTaxEngine = (http: Platform['http'], url: string): TaxEngine => ({
  computeTaxes: async ({ currency, pricesIncludeTax, components }, signal) => {
    const items = components.map(({ taxCategory, quantity, amountMinor, destination }) => ({
      category: taxCategory,
      quantity,
      amount: amountMinor,
      destination
    }))
    const { status, body } = await http.send({
      url: `${url}/taxes`,
      method: 'POST',
      signal,
      isConfigured: true,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ currency, prices_include_tax: pricesIncludeTax, items })
    })
    if (status !== 200) throw new Error(`Acme Tax responded ${status}`)
    const { taxes } = JSON.parse(body.toString()) as { readonly taxes: readonly AcmeTax[] }
    return taxes.map(({ rate_ppm, tax }) => ({ ratePpm: rate_ppm, taxMinor: tax }))
  }
})

export const acmeTaxModule = defineModule({
  name: 'acme_tax',
  description: 'Taxes by Acme Tax.',
  basePaths: [],
  settings: settings.settingsSection('Acme Tax.', {
    url: settings.textSetting('URL of Acme Tax. Without it, the tax rates of the shop apply.', '')
  }),
  requires: { pricing: pricingModule },
  uses: {},
  provides: [taxEnginePort],
  setup: async ({ http }, { url }) => ({
    api: {},
    provides: url === '' ? [] : [provide(taxEnginePort, 'acme_tax', createAcmeTaxEngine(http, url))]
  })
})
