import { countryCodes } from '../kernel/countries.ts'
import { currencyDecimalPlaces } from '../kernel/money.ts'

const HOME = 'Home'
const WORLD = 'World'

/**
 * Returns the shipping zones, methods and rates of the demo, for the currency of the shop. Like prices of the demo catalog,
 * amounts are the same number in every currency.
 */
export function demoShippingSetup(currency: string) {
  const minor = (cents: number) => (currencyDecimalPlaces[currency] === 3 ? cents * 10 : cents)
  const step = (upTo: number, cents: number) => ({ upTo, amountMinor: minor(cents) })
  // The code of a currency begins with that of its country, unless several countries share it.
  const country = currency.slice(0, 2)
  const home = countryCodes.includes(country) ? country : 'DE'
  return {
    zones: { [HOME]: home, [WORLD]: '*' },
    methods: [
      {
        kind: 'shipping',
        provider: 'Parcel Post',
        service: 'Standard',
        estimatedDays: { min: 2, max: 4 },
        rates: [{ zone: HOME, price: minor(490), freeFromMinor: minor(10_000) }]
      },
      {
        kind: 'shipping',
        provider: 'Parcel Post',
        service: 'Worldwide',
        estimatedDays: { min: 5, max: 14 },
        rates: [
          {
            zone: WORLD,
            price: { by: 'weight', steps: [step(1_000, 1_490), step(5_000, 2_990), step(20_000, 5_990)] },
            freeFromMinor: null
          }
        ]
      },
      {
        kind: 'pickup',
        provider: null,
        service: 'Pick up in the shop',
        estimatedDays: { min: 0, max: 1 },
        rates: [{ zone: null, price: 0, freeFromMinor: null }]
      },
      {
        kind: 'digital',
        provider: null,
        service: 'By e-mail',
        estimatedDays: null,
        rates: [{ zone: null, price: 0, freeFromMinor: null }]
      }
    ]
  } as const
}
