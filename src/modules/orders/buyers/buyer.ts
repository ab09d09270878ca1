/**
 * Who buys, and who acts. `clientNetwork` is the network of the client address, by which limits count; a job has none.
 */
export type Buyer = CustomerBuyer | GuestBuyer | ClientBuyer

/** A customer acts for themselves, and reaches their own checkouts and orders only. */
export type CustomerBuyer = {
  readonly kind: 'customer'
  readonly customerId: string
  readonly clientNetwork?: string | undefined
}
/** A guest acts. `token` proves access to one checkout (`checkout_token`) or one order (`order_token`). */
export type GuestBuyer = {
  readonly kind: 'guest'
  readonly token?: string | undefined
  readonly clientNetwork?: string | undefined
}
/**
 * A client of the shop acts for a buyer: an administrator or an API key, whose rights the caller has checked. It
 * needs no token, no limit by client network holds for it, and it may learn what the buyer has bought.
 */
export type ClientBuyer = {
  readonly kind: 'client'
  /** The customer who buys. Null: a guest. */
  readonly customerId: string | null
  /** The user who acts, as the history of the order records it. */
  readonly actorId: string
}

/** The owner of what the buyer creates: a customer's id. Null: a guest. */
export const customerIdOf = (buyer: Buyer): string | null =>
  buyer.kind === 'guest' ? null : buyer.customerId

/** The user who acts. Null: a guest. */
export const actorIdOf = (buyer: Buyer): string | null =>
  buyer.kind === 'client' ? buyer.actorId : customerIdOf(buyer)

/** The network of the client. Null: it is unknown, or it says nothing about the buyer. */
export const clientNetworkOf = (buyer: Buyer): string | null =>
  buyer.kind === 'client' ? null : (buyer.clientNetwork ?? null)
