import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import { AdminReviewResponse } from '../reviews/schema.ts'
import { AdminReviewQuery, RejectReviewRequest, ReviewReplyRequest } from './schema.ts'
import type { Moderation } from './service.ts'

const config = { class: 'account' } as const
const one = { params: IdParams, response: { 200: AdminReviewResponse } }

export function moderationRoutes(tiers: Tiers, moderation: Moderation): void {
  tiers.admin.get(
    '/catalog/reviews',
    {
      config,
      schema: {
        summary: 'Reviews, the newest first',
        querystring: AdminReviewQuery,
        response: { 200: listOf(AdminReviewResponse) }
      }
    },
    request => moderation.list(request.query)
  )

  tiers.admin.get('/catalog/reviews/:id', { config, schema: { ...one, summary: 'Show a review' } }, request =>
    moderation.read(request.params.id)
  )

  tiers.admin.post(
    '/catalog/reviews/:id/publish',
    { config, schema: { ...one, summary: 'Let everybody read it' } },
    request => moderation.decide(request.params.id, 'publish', null, writeOf(request))
  )

  tiers.admin.post(
    '/catalog/reviews/:id/reject',
    {
      config,
      schema: {
        ...one,
        summary: 'Let nobody read it but its author',
        description: 'What its author writes of this product from now on is looked at first.',
        body: RejectReviewRequest
      }
    },
    request => moderation.decide(request.params.id, 'reject', request.body.reason, writeOf(request))
  )

  tiers.admin.put(
    '/catalog/reviews/:id/reply',
    { config, schema: { ...one, summary: 'Answer it for the shop', body: ReviewReplyRequest } },
    request => moderation.reply(request.params.id, request.body.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/reviews/:id/reply',
    { config, schema: { ...one, summary: 'Take the answer away' } },
    request => moderation.reply(request.params.id, null, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/reviews/:id',
    {
      config,
      schema: {
        summary: 'Delete a review',
        description: 'What its author writes of this product from now on is looked at first.',
        params: IdParams,
        response: noContent
      }
    },
    request => moderation.remove(request.params.id, writeOf(request))
  )
}
