import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, response } from '../../../kernel/wire.ts'

const IDS_MAX = 100
const ID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

export const AvailabilityQuery = input({
  variant_ids: Type.String({
    description: `Ids of up to ${IDS_MAX} variants, separated by commas.`,
    ...patternWithMessage(
      `^${ID}(,${ID}){0,${IDS_MAX - 1}}$`,
      `must be 1 to ${IDS_MAX} ids in lower case, separated by commas`
    )
  })
})
export type AvailabilityQuery = Static<typeof AvailabilityQuery>

export const AvailabilityResponse = response('AvailabilityResponse', {
  items: Type.Array(
    Type.Object({
      variant_id: Id,
      available: nullable(
        Type.Integer({
          description: 'Units that can be bought. Null: unlimited, not tracked or unknown.'
        })
      )
    }),
    { description: 'Quantities in the order of the request.' }
  )
})
export type AvailabilityResponse = Static<typeof AvailabilityResponse>
