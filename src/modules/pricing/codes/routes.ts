import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf } from '../../../kernel/wire.ts'
import { csvAnswer } from '../files/schema.ts'
import {
  CodeBatchResponse,
  CodeParams,
  CodeResponse,
  CodesQuery,
  CreateCodeBatchRequest,
  CreateCodeRequest,
  UpdateCodeRequest
} from './schema.ts'
import type { CodeService } from './service.ts'

const config = { class: 'account' } as const

export function codeRoutes(tiers: Tiers, codes: CodeService): void {
  tiers.admin.get(
    '/admin/promotions/:id/codes',
    {
      config,
      schema: {
        summary: 'The codes of a promotion, the newest first',
        params: IdParams,
        querystring: CodesQuery,
        response: { 200: listOf(CodeResponse) }
      }
    },
    request => codes.list(request.params.id, request.query)
  )

  tiers.admin.get(
    '/admin/promotions/:id/codes.csv',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'The codes of a promotion as a CSV file',
        params: IdParams,
        response: csvAnswer('A row for each.')
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
        summary: 'Create a code of a promotion',
        params: IdParams,
        body: CreateCodeRequest,
        response: { 201: CodeResponse }
      }
    },
    request => codes.create(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/promotions/:id/codes/batches',
    {
      config: { class: 'bulk' },
      schema: {
        summary: 'Draw up to 10,000 random codes of a promotion',
        params: IdParams,
        body: CreateCodeBatchRequest,
        response: { 201: CodeBatchResponse }
      }
    },
    request => codes.createBatch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/admin/promotions/:id/codes/:codeId',
    {
      config,
      schema: {
        summary: 'Change a code, or put it out of use',
        params: CodeParams,
        body: UpdateCodeRequest,
        response: { 200: CodeResponse }
      }
    },
    request => codes.patch(request.params.id, request.params.codeId, request.body, writeOf(request))
  )
}
