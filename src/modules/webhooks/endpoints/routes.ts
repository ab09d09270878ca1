import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import {
  CreateEndpointRequest,
  EndpointResponse,
  EndpointSecretResponse,
  RotateSecretRequest,
  UpdateEndpointRequest
} from './schema.ts'
import type { EndpointService } from './service.ts'

const config = { class: 'account' } as const
const PATH = '/admin/webhooks/endpoints'

export function endpointRoutes(tiers: Tiers, endpoints: EndpointService): void {
  tiers.admin.get(
    PATH,
    {
      config,
      schema: {
        summary: 'Endpoints of webhooks, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(EndpointResponse) }
      }
    },
    request => endpoints.list(request.query)
  )

  tiers.admin.post(
    PATH,
    {
      config: { ...config, secret: 201 },
      schema: {
        summary: 'Create an endpoint of webhooks; its secret is shown this once',
        body: CreateEndpointRequest,
        response: { 201: EndpointSecretResponse }
      }
    },
    request => endpoints.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Show an endpoint of webhooks',
        params: IdParams,
        response: { 200: EndpointResponse }
      }
    },
    request => endpoints.read(request.params.id)
  )

  tiers.admin.patch(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Change an endpoint of webhooks, or switch it on or off',
        params: IdParams,
        body: UpdateEndpointRequest,
        response: { 200: EndpointResponse }
      }
    },
    request => endpoints.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.post(
    `${PATH}/:id/rotate`,
    {
      config: { ...config, secret: 200 },
      schema: {
        summary: 'Make another secret for an endpoint of webhooks, shown this once',
        params: IdParams,
        body: RotateSecretRequest,
        response: { 200: EndpointSecretResponse }
      }
    },
    request => endpoints.rotate(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    `${PATH}/:id`,
    {
      config,
      schema: {
        summary: 'Delete an endpoint of webhooks; what waits for it is not sent',
        params: IdParams,
        response: noContent
      }
    },
    request => endpoints.remove(request.params.id, writeOf(request))
  )
}
