import type { FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id, input, PageQuery } from '../../../kernel/wire.ts'
import { PaymentIntentRequest, PaymentIntentResponse, PaymentListResponse } from '../payments/schema.ts'
import type { IntentService } from './service.ts'

const TOKEN = 'x-order-token'
const config = { class: 'checkout' } as const
const tags = ['payments']
const guests = ['guest payments']
const GuestHeaders = Type.Object({
  [TOKEN]: Type.Optional(Type.String({ description: 'The token that the order was made with.' }))
})

export function intentRoutes(tiers: Tiers, intents: IntentService, perMinute: number): void {
  const begin = { ...config, secret: 201, limit: { name: 'payment', perMinute } } as const

  tiers.secured.post(
    '/payments/intent',
    {
      config: begin,
      schema: {
        tags,
        summary: 'Pay what is left of an order',
        body: PaymentIntentRequest,
        response: { 201: PaymentIntentResponse }
      }
    },
    request => intents.create({ customerId: identityOf(request).userId }, askedIn(request), writeOf(request))
  )

  tiers.secured.get(
    '/payments',
    {
      config,
      schema: {
        tags,
        summary: 'Payments of the caller, the newest first',
        querystring: PageQuery,
        response: { 200: PaymentListResponse }
      }
    },
    request => intents.list(identityOf(request).userId, request.query)
  )

  tiers.secured.get(
    '/payments/by-order/:orderID',
    {
      config,
      schema: {
        tags,
        summary: 'The payments of an order, the oldest first',
        params: input({ orderID: Id }),
        querystring: PageQuery,
        response: { 200: PaymentListResponse }
      }
    },
    request =>
      intents.ofOrder({ customerId: identityOf(request).userId }, request.params.orderID, request.query)
  )

  const back = { ...config, limit: { name: 'payment', perMinute } } as const
  tiers.secured.post(
    '/payments/by-order/:orderID/confirm',
    {
      config: {
        inMaintenance: 'what was paid is known, whatever the shop does',
        ...back,
        unwritten: 'what a provider says is recorded once, whoever asks'
      },
      schema: {
        tags,
        summary: 'The customer is back from paying: ask what became of it',
        params: input({ orderID: Id }),
        response: { 200: PaymentListResponse }
      }
    },
    request => intents.confirm({ customerId: identityOf(request).userId }, request.params.orderID)
  )

  tiers.public.post(
    '/payments/guest/by-order/:order_id/confirm',
    {
      config: {
        inMaintenance: 'what was paid is known, whatever the shop does',
        ...back,
        unwritten: 'what a provider says is recorded once, whoever asks'
      },
      schema: {
        tags: guests,
        summary: 'The buyer is back from paying: ask what became of it',
        headers: GuestHeaders,
        params: input({ order_id: Id }),
        response: { 200: PaymentListResponse }
      }
    },
    request => intents.confirm(tokenOf(request), request.params.order_id)
  )

  tiers.public.post(
    '/payments/guest/intent',
    {
      config: begin,
      schema: {
        tags: guests,
        summary: 'Pay what is left of an order, without an account',
        headers: GuestHeaders,
        body: PaymentIntentRequest,
        response: { 201: PaymentIntentResponse }
      }
    },
    request => intents.create(tokenOf(request), askedIn(request), writeOf(request))
  )

  tiers.public.get(
    '/payments/guest/by-order/:order_id',
    {
      config,
      schema: {
        tags: guests,
        summary: 'The payments of an order, the oldest first',
        headers: GuestHeaders,
        params: input({ order_id: Id }),
        querystring: PageQuery,
        response: { 200: PaymentListResponse }
      }
    },
    request => intents.ofOrder(tokenOf(request), request.params.order_id, request.query)
  )
}

const tokenOf = ({ headers }: Pick<FastifyRequest, 'headers'>) => ({
  token: headers[TOKEN] as string | undefined
})

const askedIn = (request: FastifyRequest<{ Body: PaymentIntentRequest }>) => ({
  ...request.body,
  network: byAddress(request)
})
