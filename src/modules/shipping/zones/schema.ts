import { ANY_COUNTRY } from '../../../kernel/areas.ts'
import { countryCodes } from '../../../kernel/countries.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  nullable,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

/** Limited, because every calculation of shipping rates checks all areas of the country. */
export const SHIPPING_ZONES_PER_SHOP_MAX = 100
const AREAS_MAX = 300

const COUNTRY = 'Two-letter country code (ISO 3166-1), or "*" for any country.'
const REGION =
  'Code or name of the region (ISO 3166-2). The part behind the hyphen is stored: CA for California.'
const POSTAL_CODE = 'A postal code or its first part (SW1A), a prefix (10*), or a range (10000-19999).'
const Area = input({
  country: Type.Enum([ANY_COUNTRY, ...countryCodes], { description: COUNTRY }),
  region: Type.Optional(nullable(line(64, REGION))),
  postal_code: Type.Optional(nullable(line(32, POSTAL_CODE)))
})
export type ShippingZoneAreaRequest = Static<typeof Area>

const fields = {
  name: line(255),
  areas: Type.Array(Area, {
    description: 'An address belongs to the zone with its most specific area.',
    minItems: 1,
    maxItems: AREAS_MAX
  })
}
export const CreateShippingZoneRequest = request('CreateShippingZoneRequest', fields)
export type CreateShippingZoneRequest = Static<typeof CreateShippingZoneRequest>
export const UpdateShippingZoneRequest = patchRequest('UpdateShippingZoneRequest', fields)
export type UpdateShippingZoneRequest = Static<typeof UpdateShippingZoneRequest>

export const ShippingZoneResponse = response('ShippingZoneResponse', {
  id: Id,
  name: Type.String(),
  areas: Type.Array(
    Type.Object({
      country: Type.String({ description: COUNTRY }),
      region: nullable(Type.String({ description: REGION })),
      postal_code: nullable(Type.String({ description: POSTAL_CODE }))
    })
  ),
  version: Version,
  created_at: Time
})
export type ShippingZoneResponse = Static<typeof ShippingZoneResponse>
