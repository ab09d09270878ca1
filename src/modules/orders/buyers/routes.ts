import type { FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { AssistedBuyer, CustomerBuyer, GuestBuyer } from './buyer.ts'

/**
 * The customer who sends the request.
 * @example
 * assert.partialDeepStrictEqual(customerBuyerOfRequest(request), { kind: 'customer', customerId })
 */
export const customerBuyerOfRequest = (request: FastifyRequest): CustomerBuyer => ({
  kind: 'customer',
  customerId: identityOf(request).userId,
  clientNetwork: callerNetwork(request)
})

/**
 * The guest who sends the request. `header` has the token of their checkout or order.
 * @example
 * const guest = guestBuyerOfRequest(request, 'x-checkout-token')
 * assert.partialDeepStrictEqual(guest, { kind: 'guest', token: 'a token' })
 */
export const guestBuyerOfRequest = (
  request: FastifyRequest,
  header?: 'x-checkout-token' | 'x-order-token'
): GuestBuyer => ({
  kind: 'guest',
  token: header === undefined ? undefined : (request.headers[header] as string | undefined),
  clientNetwork: callerNetwork(request)
})

/**
 * The administrator or API key that sends the request for a buyer. Null: for a guest.
 * @example
 * const assisted = assistedBuyerOfRequest(request, null)
 * assert.deepEqual(assisted, { kind: 'assisted', customerId: null, actorId: identityOf(request).userId })
 */
export const assistedBuyerOfRequest = (
  request: FastifyRequest,
  customerId: string | null
): AssistedBuyer => ({
  kind: 'assisted',
  customerId,
  actorId: identityOf(request).userId
})
