import { type Static, Type } from '../../../kernel/schema.ts'
import { Country, input, nullable, response } from '../../../kernel/wire.ts'

export const CountryParams = input({ country: Country })

export const CountryResponse = response('CountryResponse', {
  country: Type.String(),
  required: Type.Array(Type.Enum(['name', 'line1', 'city', 'region', 'postal_code']), {
    description: 'What an address cannot do without there.'
  }),
  regions: Type.Array(
    Type.Object({
      code: Type.String({ description: 'What to send as `region`.' }),
      name: Type.String(),
      within: nullable(Type.String({ description: 'The code of the region that it lies in.' }))
    }),
    { description: 'Those that an address may say, by name.' }
  )
})
export type CountryResponse = Static<typeof CountryResponse>
