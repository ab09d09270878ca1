import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf } from '../../../kernel/wire.ts'
import { csvFileResponseSchema } from '../input-formats/csv-import.ts'
import {
  CreatePromotionCodeBatchRequest,
  CreatePromotionCodeRequest,
  PromotionCodeBatchResponse,
  PromotionCodeParams,
  PromotionCodeResponse,
  PromotionCodesQuery,
  UpdatePromotionCodeRequest
} from './schema.ts'
import type { PromotionCodeService } from './service.ts'

const config = { class: 'account' } as const

export function promotionCodeRoutes(tiers: Tiers, codes: PromotionCodeService): void {
  tiers.admin.get(
    '/admin/promotions/:id/codes',
    {
      config,
      schema: {
        summary: "List a promotion's codes",
        description:
          'Returns a page of the codes of a promotion, newest first, with the uses that remain. 404 `PRICING_PROMOTION_NOT_FOUND`: the promotion does not exist.',
        params: IdParams,
        querystring: PromotionCodesQuery,
        response: { 200: listOf(PromotionCodeResponse) }
      }
    },
    request => codes.list(request.params.id, request.query)
  )

  tiers.admin.get(
    '/admin/promotions/:id/codes.csv',
    {
      config: { class: 'bulk' },
      schema: {
        summary: "Export a promotion's codes",
        description:
          'Returns all codes of a promotion as a CSV file. 404 `PRICING_PROMOTION_NOT_FOUND`: the promotion does not exist.',
        params: IdParams,
        response: csvFileResponseSchema('A CSV file with one row per code.')
      }
    },
    async (request, reply) => {
      const file = await codes.exportCsv(request.params.id)
      return reply.type('text/csv; charset=utf-8').send(file as never)
    }
  )

  tiers.admin.post(
    '/admin/promotions/:id/codes',
    {
      config,
      schema: {
        summary: 'Create a code',
        description:
          'Creates a code that customers enter to get a promotion. Upper and lower case do not matter. 409 `PRICING_CODE_TAKEN`: a promotion has this code; choose another one. 404 `PRICING_PROMOTION_NOT_FOUND`: the promotion does not exist.',
        params: IdParams,
        body: CreatePromotionCodeRequest,
        response: { 201: PromotionCodeResponse }
      }
    },
    request => codes.create(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/promotions/:id/codes/batches',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Create a batch of codes',
        description:
          'Creates up to 10,000 random codes of a promotion, each usable once by default. Returns the `batch_id`: list or export the codes to read them. 404 `PRICING_PROMOTION_NOT_FOUND`: the promotion does not exist.',
        params: IdParams,
        body: CreatePromotionCodeBatchRequest,
        response: { 201: PromotionCodeBatchResponse }
      }
    },
    request => codes.createBatch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/admin/promotions/:id/codes/:codeId',
    {
      config,
      schema: {
        summary: 'Update a code',
        description:
          'Updates a code; omitted fields stay. Set `active` to false to disable it. Codes cannot be deleted alone. 404 `PRICING_CODE_NOT_FOUND`: the promotion has no such code. 409 `PRICING_USES_TAKEN`: `uses_max` is less than its current uses.',
        params: PromotionCodeParams,
        body: UpdatePromotionCodeRequest,
        response: { 200: PromotionCodeResponse }
      }
    },
    request => codes.patch(request.params.id, request.params.codeId, request.body, writeOf(request))
  )
}
