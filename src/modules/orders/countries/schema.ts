import { type Static, Type } from '../../../kernel/schema.ts'
import { Country, input, nullable, response } from '../../../kernel/wire.ts'

export const CountryPathParams = input({ country: Country })

export const CountryResponse = response('CountryResponse', {
  country: Type.String(),
  required: Type.Array(Type.Enum(['name', 'line1', 'city', 'region', 'postal_code']), {
    description: 'Fields that an address in this country needs.'
  }),
  regions: Type.Array(
    Type.Object({
      code: Type.String({ description: 'The value to send as `region`.' }),
      name: Type.String(),
      within: nullable(Type.String({ description: 'The code of the region that contains it.' }))
    }),
    { description: 'Regions that an address may contain, sorted by name.' }
  )
})
export type CountryResponse = Static<typeof CountryResponse>
