import { expect, test } from 'vitest'
import { zonesOf } from './zones.ts'

const zone = (
  id: string,
  country: string,
  region: string | null = null,
  postalPattern: string | null = null
) => ({
  id,
  country,
  region,
  postalPattern
})
const ZONES = [
  zone('usa', 'US'),
  zone('california', 'US', 'CA'),
  zone('beverly', 'US', null, '902*'),
  zone('hills', 'US', null, '90210'),
  zone('beverly in california', 'US', 'CA', '902*'),
  zone('soho', 'GB', null, 'W1D*'),
  zone('soho again', 'GB', null, 'w1d*')
]

test.each([
  [['US', 'NY', '10001'], ['usa']],
  [
    ['US', 'CA', null],
    ['california', 'usa']
  ],
  [
    ['US', null, '90210'],
    ['hills', 'beverly', 'usa']
  ],
  [
    ['US', 'CA', '90210'],
    ['hills', 'beverly in california', 'beverly', 'california', 'usa']
  ],
  [
    ['US', 'CA', '90211'],
    ['beverly in california', 'beverly', 'california', 'usa']
  ],
  [
    ['GB', null, 'w1d 3qu'],
    ['soho', 'soho again']
  ],
  [['DE', null, '90210'], []]
] as const)('a destination %j lies in %j, the most specific first', ([country, region, postalCode], ids) => {
  expect(zonesOf(ZONES, { country, region, postalCode }).map(({ id }) => id)).toEqual(ids)
})
