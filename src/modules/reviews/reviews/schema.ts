import { adminMetadataResponseFieldSchemas, publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, response, Time, Version } from '../../../kernel/wire.ts'
import { REVIEW_STATUSES } from './status.ts'

export const ReviewStatusSchema = Type.Enum([...REVIEW_STATUSES])

const publicFields = {
  id: Id,
  rating: Type.Integer({ description: 'Stars, 1 to 5.' }),
  title: nullable(Type.String()),
  body: nullable(Type.String({ description: 'Plain text.' })),
  author: nullable(
    Type.String({ description: 'Display name. Null: the author has none, or deleted the account.' })
  ),
  verified_purchase: Type.Boolean({ description: 'Whether the author bought the product.' }),
  reply: nullable(
    Type.Object({ body: Type.String(), replied_at: Time }, { description: 'Reply of the shop.' })
  ),
  created_at: Time,
  updated_at: { ...Time, description: 'When the author last changed the review.' }
}
const ownFields = {
  ...publicFields,
  product_id: Id,
  status: ReviewStatusSchema,
  reason: nullable(Type.String({ description: 'Why the review was rejected.' })),
  ...publicMetadataResponseFields,
  version: Version
}

/** A review for the public. */
export const ReviewResponse = response('ReviewResponse', publicFields)
export type ReviewResponse = Static<typeof ReviewResponse>
/** A review for its author. */
export const OwnReviewResponse = response('OwnReviewResponse', ownFields)
export type OwnReviewResponse = Static<typeof OwnReviewResponse>
/** A review for administrators. */
export const AdminReviewResponse = response('AdminReviewResponse', {
  ...ownFields,
  customer_id: nullable({ ...Id, description: 'Null: the author deleted the account.' }),
  ...adminMetadataResponseFieldSchemas
})
export type AdminReviewResponse = Static<typeof AdminReviewResponse>
