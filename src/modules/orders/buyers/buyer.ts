import type { WaitingRequest } from '../../../platform/idempotency/write.ts'

/**
 * The buyer and the acting user. `clientNetwork`: the network of the client address, by which limits count;
 * jobs have none.
 * @example
 * const buyer: Buyer = { kind: 'customer', customerId }
 */
export type Buyer = CustomerBuyer | GuestBuyer | AssistedBuyer

/** A customer who acts for themselves. They have access to their own checkouts and orders only. */
export type CustomerBuyer = {
  readonly kind: 'customer'
  readonly customerId: string
  readonly clientNetwork?: string | undefined
}
/**
 * A guest who acts for themselves. `token` proves access to one checkout (`checkout_token`) or one order
 * (`order_token`).
 */
export type GuestBuyer = {
  readonly kind: 'guest'
  readonly token?: string | undefined
  readonly clientNetwork?: string | undefined
}
/**
 * A buyer for whom an administrator or an API key acts. The caller has checked its rights. It needs no token,
 * has no limit by client network, and may see what the buyer has bought.
 */
export type AssistedBuyer = {
  readonly kind: 'assisted'
  /** The customer who buys. Null: a guest. */
  readonly customerId: string | null
  /** The user who acts, as the history of the order records it. */
  readonly actorId: string
}

/** The owner of what the buyer creates: a customer's id. Null: a guest. */
export const customerIdOfBuyer = (buyer: Buyer): string | null =>
  buyer.kind === 'guest' ? null : buyer.customerId

/** The user who acts. Null: a guest. */
export const actorIdOfBuyer = (buyer: Buyer): string | null =>
  buyer.kind === 'assisted' ? buyer.actorId : customerIdOfBuyer(buyer)

/**
 * The network of the client. Null: the network is unknown, or it is that of an administrator and not of the
 * buyer.
 */
export const clientNetworkOfBuyer = (buyer: Buyer): string | null =>
  buyer.kind === 'assisted' ? null : (buyer.clientNetwork ?? null)

/** The buyer's request, which waits for providers of a price. */
export const waitingRequestOf = (
  buyer: Buyer,
  { withoutSlot }: Pick<WaitingRequest, 'withoutSlot'>
): WaitingRequest => ({ withoutSlot, clientNetwork: clientNetworkOfBuyer(buyer) })
