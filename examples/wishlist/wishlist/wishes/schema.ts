import { type Static, Type, wire } from 'cartwright'

export const AddWishRequest = wire.request('AddWishRequest', { variant_id: wire.Id })
export type AddWishRequest = Static<typeof AddWishRequest>

export const WishResponse = wire.response('WishResponse', {
  id: wire.Id,
  variant_id: wire.Id,
  wished_at: wire.Time,
  price: wire.nullable(wire.amount('The price of this moment; null while it is not for sale')),
  currency: wire.nullable(Type.String())
})
export type WishResponse = Static<typeof WishResponse>
