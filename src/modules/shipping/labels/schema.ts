import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, request, response, Time, Version } from '../../../kernel/wire.ts'
import { LABEL_MEDIA_TYPES } from './port.ts'

const WEIGHT_GRAMS_MAX = 100_000_000

export const LabelStatus = Type.Enum(['requested', 'ready', 'failed', 'voiding', 'voided'], {
  description:
    '`requested`: being bought. `ready`: bought. `failed`: the provider refused it; see `problem`. `voiding`: being voided. `voided`: not charged.'
})
export type LabelStatus = Static<typeof LabelStatus>

export const CreateLabelRequest = request('CreateShippingLabelRequest', {
  provider: Type.Optional(line(100, 'Name of the label provider. Required when the shop has several.')),
  service: Type.Optional(
    line(100, 'Code of the service at the provider. Default: the one that the buyer chose.')
  ),
  weight_grams: Type.Optional(
    Type.Integer({
      description: 'Weight of the parcel. Default: the sum of its items.',
      minimum: 1,
      maximum: WEIGHT_GRAMS_MAX
    })
  )
})
export type CreateLabelRequest = Static<typeof CreateLabelRequest>

export const LabelResponse = response('ShippingLabelResponse', {
  id: Id,
  shipment_id: { ...Id, description: 'The shipment, or the parcel that was shipped with the label.' },
  status: LabelStatus,
  provider: Type.String(),
  service: nullable(Type.String()),
  carrier: nullable(Type.String({ description: 'Carrier. Null until the label is ready.' })),
  tracking_number: nullable(Type.String()),
  media_type: nullable(
    Type.Enum(LABEL_MEDIA_TYPES, {
      description: 'Media type of the document. Null: there is none, or it was deleted.'
    })
  ),
  problem: nullable(Type.String({ description: 'Why the last attempt failed.' })),
  version: Version,
  created_at: Time,
  updated_at: Time
})
export type LabelResponse = Static<typeof LabelResponse>

export const labelFileResponseSchema = {
  200: {
    description: 'The document of the label.',
    content: Object.fromEntries(
      LABEL_MEDIA_TYPES.map(type => [type, { schema: Type.String({ contentEncoding: 'binary' }) }])
    )
  }
}
