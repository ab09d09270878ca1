import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import {
  ConfirmDataRequestRequest,
  DataRequestConfirmedResponse,
  DataRequestRequest,
  DataRequestResponse
} from './schema.ts'
import type { DataRequests } from './service.ts'

const tags = ['guest orders']
const config = { class: 'account', limit: { name: 'data_request', perMinute: 5 } } as const

export function dataRequestRoutes(tiers: Tiers, requests: DataRequests): void {
  tiers.public.post(
    '/orders/guest/data-requests',
    {
      config,
      schema: {
        tags,
        summary: 'Request your data or its erasure',
        description:
          'For customers without an account. Sends a link to the address if guests have ordered with it, three a day at most. Answers the same for every address.',
        body: DataRequestRequest,
        response: { 202: DataRequestResponse }
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
          'Returns or erases what the shop keeps of the guest whom the token was sent to. A link works for a day, and erases once. 409 ORDER_STILL_OPEN: nothing was erased; cancel the orders in `numbers`, or wait until they are completed.',
        body: ConfirmDataRequestRequest,
        response: { 200: DataRequestConfirmedResponse }
      }
    },
    request => requests.confirm(request.body.token, writeOf(request))
  )
}
