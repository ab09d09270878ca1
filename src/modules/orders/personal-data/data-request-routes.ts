import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { withResponseDescription } from '../../../kernel/wire.ts'
import {
  ConfirmDataRequestRequest,
  DataRequestConfirmedResponse,
  DataRequestRequest,
  DataRequestResponse
} from './data-request-schema.ts'
import type { DataRequestService } from './data-request-service.ts'

const tags = ['guest orders']
const config = { class: 'account', limit: { name: 'data_request', perMinute: 5 } } as const

export function dataRequestRoutes(tiers: Tiers, requests: DataRequestService): void {
  tiers.public.post(
    '/orders/guest/data-requests',
    {
      config,
      schema: {
        tags,
        summary: "Request a guest's data or its erasure",
        description:
          'Starts an export or an erasure of the data of a guest. If guests have ordered with the address, it receives a mail with a link, three a day at most. 202: the request is accepted. The response is the same for every address, so it does not reveal who is a customer.',
        body: DataRequestRequest,
        response: {
          202: withResponseDescription(
            DataRequestResponse,
            'Accepted. A link is sent if guests have ordered with the address.'
          )
        }
      }
    },
    async (request, reply) => reply.code(202).send(await requests.request(request.body, writeOf(request)))
  )

  tiers.public.post(
    '/orders/guest/data-requests/confirm',
    {
      config: { ...config, secret: 'any', unversioned: true },
      schema: {
        tags,
        summary: 'Confirm a data request',
        description:
          'Exports or erases the data of the guest who received the token by mail. A link works for a day and erases once. 400 `ORDER_DATA_REQUEST_INVALID`: the link is expired, used or wrong; request a new one. 409 `ORDER_STILL_OPEN`: nothing was erased. Cancel the orders in `numbers`, or wait until they are completed.',
        body: ConfirmDataRequestRequest,
        response: { 200: DataRequestConfirmedResponse }
      }
    },
    request => requests.confirm(request.body.token, writeOf(request))
  )
}
