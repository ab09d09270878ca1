import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, response, Time, Version } from '../../../kernel/wire.ts'
import { STATUSES } from './status.ts'

export const StatusName = Type.Enum([...STATUSES])

const publicFields = {
  id: Id,
  rating: Type.Integer({ description: '1 to 5 stars.' }),
  title: nullable(Type.String()),
  body: nullable(Type.String({ description: 'Plain text.' })),
  author: nullable(Type.String({ description: 'Null: has no name to show, or has left.' })),
  verified_purchase: Type.Boolean({ description: 'Whether its author has bought the product.' }),
  reply: nullable(
    Type.Object({ body: Type.String(), replied_at: Time }, { description: 'What the shop answers.' })
  ),
  created_at: Time,
  updated_at: { ...Time, description: 'When its author wrote it last.' }
}
const ownFields = {
  ...publicFields,
  product_id: Id,
  status: StatusName,
  reason: nullable(Type.String({ description: 'Why it was rejected.' })),
  version: Version
}

/** What everybody sees. */
export const ReviewResponse = response('ReviewResponse', publicFields)
export type ReviewResponse = Static<typeof ReviewResponse>
/** What its author sees. */
export const OwnReviewResponse = response('OwnReviewResponse', ownFields)
export type OwnReviewResponse = Static<typeof OwnReviewResponse>
/** What administrators see. */
export const AdminReviewResponse = response('AdminReviewResponse', {
  ...ownFields,
  customer_id: nullable({ ...Id, description: 'Null: has left.' })
})
export type AdminReviewResponse = Static<typeof AdminReviewResponse>
