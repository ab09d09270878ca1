import { defineError } from 'cartwright'

export const wishNotFound = defineError(
  'not_found',
  'WISHLIST_WISH_NOT_FOUND',
  'There is no such wish on this wishlist.'
)
export const wishlistFull = defineError(
  'conflict',
  'WISHLIST_FULL',
  'The wishlist is full; "limit" says how many wishes it holds.'
)
// Nobody throws this: a row that the constraint refuses is this error.
defineError('conflict', 'WISHLIST_WISH_TAKEN', 'This variant is wished for already.', {
  constraints: ['wishlist.wishes_variant']
})
