import { defineModule, type OrderCheck, orderCheckPort, ordersModule, provide, settings } from 'cartwright'

/** Refuses knives for buyers who have not confirmed their age, and in countries to which they must not be sent. */
export const createKnifeCheck =
  (prefix: string, countries: readonly string[]): OrderCheck =>
  async ({ lines, shippingAddress, metadata }) => {
    const knives = lines.filter(({ sku }) => sku.startsWith(prefix))
    if (knives.length === 0) return []
    if (shippingAddress !== null && countries.includes(shippingAddress.country))
      return knives.map(({ id, sku }) => ({
        code: 'KNIFE_NOT_SHIPPED',
        message: `${sku} is not sent to this country. Remove it.`,
        line: id
      }))
    if (metadata.age_confirmed === 'yes') return []
    return [{ code: 'AGE_MISSING', message: 'Knives are sold to adults only. Confirm your age.' }]
  }

export const knivesModule = defineModule({
  name: 'knives',
  description: 'Sells knives to adults only.',
  basePaths: [],
  settings: settings.settingsSection('Knives.', {
    sku_prefix: settings.textSetting('How SKUs of knives begin.', 'KNIFE-'),
    forbidden_countries: settings.textSetting('Countries without knives, separated by spaces.', 'GB IE')
  }),
  requires: { orders: ordersModule },
  uses: {},
  provides: [orderCheckPort],
  setup: async (_platform, { sku_prefix, forbidden_countries }) => ({
    api: {},
    provides: [
      provide(orderCheckPort, 'knives', createKnifeCheck(sku_prefix, forbidden_countries.split(' ')))
    ]
  })
})
