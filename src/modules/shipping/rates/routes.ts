import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import { CreateRateRequest, RateQuery, RateResponse, UpdateRateRequest } from './schema.ts'
import type { RateService } from './service.ts'

const config = { class: 'account' } as const

export function rateRoutes(tiers: Tiers, rates: RateService): void {
  tiers.admin.get(
    '/admin/shipping/rates',
    {
      config,
      schema: {
        summary: 'What methods cost in zones, the newest first',
        querystring: RateQuery,
        response: { 200: listOf(RateResponse) }
      }
    },
    request => rates.list(request.query)
  )

  tiers.admin.post(
    '/admin/shipping/rates',
    {
      config,
      schema: {
        summary: 'Say what a method costs in a zone',
        body: CreateRateRequest,
        response: { 201: RateResponse }
      }
    },
    request => rates.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: {
        summary: 'Show what a method costs in a zone',
        params: IdParams,
        response: { 200: RateResponse }
      }
    },
    request => rates.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: {
        summary: 'Change what a method costs in a zone',
        params: IdParams,
        body: UpdateRateRequest,
        response: { 200: RateResponse }
      }
    },
    request => rates.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: { summary: 'Delete what a method costs', params: IdParams, response: noContent }
    },
    request => rates.remove(request.params.id, writeOf(request))
  )
}
