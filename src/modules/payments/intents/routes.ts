import type { FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot, writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id, input, PageQuery } from '../../../kernel/wire.ts'
import { PaymentIntentRequest, PaymentIntentResponse, PaymentListResponse } from '../payments/schema.ts'
import type { PaymentIntentService } from './service.ts'

const TOKEN = 'x-order-token'
const config = { class: 'checkout' } as const
const tags = ['payments']
const guests = ['guest payments']
const GuestHeaders = Type.Object({
  [TOKEN]: Type.Optional(
    Type.String({ description: 'The `order_token` of the response that created the order.' })
  )
})

export function paymentIntentRoutes(tiers: Tiers, intents: PaymentIntentService, perMinute: number): void {
  const startConfig = { ...config, secret: 201, limit: { name: 'payment', perMinute } } as const

  tiers.secured.post(
    '/payments/intent',
    {
      config: startConfig,
      schema: {
        tags,
        summary: 'Create a payment intent',
        description:
          'Starts a payment of the amount due for an order of the customer, or returns the open one. It returns `redirect_url`, `client_secret` or `action`; with status `pending` and none of these, repeat the request. A new `provider` or `method` voids the open payment first; 409 `PAYMENT_OPERATION_OPEN`: repeat the request after `Retry-After`. 409 `PAYMENT_NOTHING_DUE` or `PAYMENT_ORDER_FROZEN`: the order is paid or canceled. 409 `ORDER_UNPAID_STOCK_LIMIT`: unpaid orders reserve too much stock; pay by card. 429 `PAYMENT_ATTEMPTS_LIMITED`: too many attempts failed; wait or use another method.',
        body: PaymentIntentRequest,
        response: { 201: PaymentIntentResponse }
      }
    },
    request =>
      intents.create({ customerId: identityOf(request).userId }, requestOf(request), writeOf(request))
  )

  tiers.secured.get(
    '/payments',
    {
      config,
      schema: {
        tags,
        summary: "List the caller's payments",
        description:
          'Returns a page of the payments of all orders of the customer, newest first. Failed and canceled payments are included.',
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
        summary: "List an order's payments",
        description:
          'Returns a page of all payments of an order of the customer, oldest first, failed ones included. 404 `PAYMENT_ORDER_NOT_FOUND`: the order does not exist or belongs to another buyer.',
        params: input({ orderID: Id }),
        querystring: PageQuery,
        response: { 200: PaymentListResponse }
      }
    },
    request =>
      intents.ofOrder({ customerId: identityOf(request).userId }, request.params.orderID, request.query)
  )

  const confirmConfig = { ...config, limit: { name: 'payment', perMinute } } as const
  tiers.secured.post(
    '/payments/by-order/:orderID/confirm',
    {
      config: {
        allowedInMaintenance: 'a payment is recorded even while the shop is in maintenance',
        ...confirmConfig,
        noReplay: 'a fact that a provider reports is recorded once'
      },
      schema: {
        tags,
        summary: 'Confirm the payments of an order',
        description:
          'Requests the state of the open payments of an order from their provider. Call it when the buyer returns from the provider, instead of waiting for the webhook. The provider is asked every five seconds at most. Returns the first page of payments of the order. 409 `INVENTORY_SHORT`: another buyer got the stock, so the order is canceled and refunded. 404 `PAYMENT_ORDER_NOT_FOUND`: the order does not exist or belongs to another buyer.',
        params: input({ orderID: Id }),
        response: { 200: PaymentListResponse }
      }
    },
    request =>
      intents.confirm(
        { customerId: identityOf(request).userId },
        request.params.orderID,
        createRunWithoutRequestSlot(request)
      )
  )

  tiers.public.post(
    '/payments/guest/by-order/:order_id/confirm',
    {
      config: {
        allowedInMaintenance: 'a payment is recorded even while the shop is in maintenance',
        ...confirmConfig,
        noReplay: 'a fact that a provider reports is recorded once'
      },
      schema: {
        tags: guests,
        summary: 'Confirm the payments of a guest order',
        description:
          'Requests the state of the open payments of the order of `X-Order-Token` from their provider. Call it when the buyer returns from the provider, instead of waiting for the webhook. The provider is asked every five seconds at most. Returns the first page of payments of the order. 409 `INVENTORY_SHORT`: another buyer got the stock, so the order is canceled and refunded. 404 `PAYMENT_ORDER_NOT_FOUND`: the token is missing or wrong.',
        headers: GuestHeaders,
        params: input({ order_id: Id }),
        response: { 200: PaymentListResponse }
      }
    },
    request =>
      intents.confirm(tokenOf(request), request.params.order_id, createRunWithoutRequestSlot(request))
  )

  tiers.public.post(
    '/payments/guest/intent',
    {
      config: startConfig,
      schema: {
        tags: guests,
        summary: 'Create a guest payment intent',
        description:
          'Starts a payment of the amount due for the order of `X-Order-Token`, or returns the open one. It returns `redirect_url`, `client_secret` or `action`; with status `pending` and none of these, repeat the request. A new `provider` or `method` voids the open payment first; 409 `PAYMENT_OPERATION_OPEN`: repeat the request after `Retry-After`. 409 `PAYMENT_NOTHING_DUE` or `PAYMENT_ORDER_FROZEN`: the order is paid or canceled. 409 `ORDER_UNPAID_STOCK_LIMIT`: unpaid orders reserve too much stock; pay by card. 429 `PAYMENT_ATTEMPTS_LIMITED`: too many attempts failed; wait or use another method.',
        headers: GuestHeaders,
        body: PaymentIntentRequest,
        response: { 201: PaymentIntentResponse }
      }
    },
    request => intents.create(tokenOf(request), requestOf(request), writeOf(request))
  )

  tiers.public.get(
    '/payments/guest/by-order/:order_id',
    {
      config,
      schema: {
        tags: guests,
        summary: "List a guest order's payments",
        description:
          'Returns a page of all payments of a guest order, oldest first, failed ones included. Needs `X-Order-Token`. 404 `PAYMENT_ORDER_NOT_FOUND`: the token is missing or wrong.',
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

const requestOf = (request: FastifyRequest<{ Body: PaymentIntentRequest }>) => ({
  ...request.body,
  network: callerNetwork(request)
})
