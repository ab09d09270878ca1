import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import { AdminReviewResponse } from '../reviews/schema.ts'
import {
  AdminReviewQuery,
  RejectReviewRequest,
  ReviewReplyRequest,
  UpdateReviewMetadataRequest
} from './schema.ts'
import type { ReviewModeration } from './service.ts'

const config = { class: 'account' } as const
const one = { params: IdParams, response: { 200: AdminReviewResponse } }

export function reviewModerationRoutes(tiers: Tiers, moderation: ReviewModeration): void {
  tiers.admin.get(
    '/catalog/reviews',
    {
      config,
      schema: {
        summary: 'List all reviews',
        description:
          'Returns a page of reviews for moderators, newest first. Filter by `status`, product, customer or stars: "pending" lists reviews that wait for approval.',
        querystring: AdminReviewQuery,
        response: { 200: listOf(AdminReviewResponse) }
      }
    },
    request => moderation.list(request.query)
  )

  tiers.admin.get(
    '/catalog/reviews/:id',
    {
      config,
      schema: {
        ...one,
        summary: 'Retrieve a review',
        description: 'Returns a review of any status. 404 `REVIEW_NOT_FOUND`: it does not exist.'
      }
    },
    request => moderation.read(request.params.id)
  )

  tiers.admin.post(
    '/catalog/reviews/:id/publish',
    {
      config,
      schema: {
        ...one,
        summary: 'Approve a review',
        description:
          'Publishes a review, and returns it. 409 `REVIEW_STATUS_FORBIDS`: it is published already. 412 `REVIEW_STALE`: it has changed since; read it again.'
      }
    },
    request => moderation.decide(request.params.id, 'publish', null, writeOf(request))
  )

  tiers.admin.post(
    '/catalog/reviews/:id/reject',
    {
      config,
      schema: {
        ...one,
        summary: 'Reject a review',
        description:
          'Hides a review from all readers but its author, and returns it. Later reviews of this product by the same customer wait for approval. 409 `REVIEW_STATUS_FORBIDS`: it is rejected already. 412 `REVIEW_STALE`: it has changed since; read it again.',
        body: RejectReviewRequest
      }
    },
    request => moderation.decide(request.params.id, 'reject', request.body.reason, writeOf(request))
  )

  tiers.admin.put(
    '/catalog/reviews/:id/reply',
    {
      config,
      schema: {
        ...one,
        summary: 'Set the reply to a review',
        description:
          'Sets the public reply of the shop to a review, and returns the review. An earlier reply is replaced. 404 `REVIEW_NOT_FOUND`: it does not exist. 412 `REVIEW_STALE`: it has changed since; read it again.',
        body: ReviewReplyRequest
      }
    },
    request => moderation.reply(request.params.id, request.body.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/reviews/:id/reply',
    {
      config,
      schema: {
        ...one,
        summary: 'Delete the reply to a review',
        description:
          'Deletes the reply of the shop, and returns the review. It changes nothing if there is no reply. 404 `REVIEW_NOT_FOUND`: the review does not exist. 412 `REVIEW_STALE`: it has changed since; read it again.'
      }
    },
    request => moderation.reply(request.params.id, null, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/reviews/:id',
    {
      config,
      schema: {
        ...one,
        summary: "Update a review's metadata",
        description:
          'Changes `metadata` and `private_metadata` of a review, and returns the review. Sent keys are set, null deletes a key, and other keys stay. Metadata that stays equal keeps the version. The author sees `metadata`; only administrators see `private_metadata`. 400 `METADATA_LIMIT`: the review would have too many keys; delete some. 412 `REVIEW_STALE`: it has changed since; read it again.',
        body: UpdateReviewMetadataRequest
      }
    },
    request => moderation.updateMetadata(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/reviews/:id',
    {
      config,
      schema: {
        summary: 'Delete a review',
        description:
          'Deletes a review. Later reviews of this product by the same customer wait for approval. 404 `REVIEW_NOT_FOUND`: it does not exist. 412 `REVIEW_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => moderation.remove(request.params.id, writeOf(request))
  )
}
