import { defineError } from 'cartwright'

export const wishNotFoundError = defineError(
  'not_found',
  'WISHLIST_WISH_NOT_FOUND',
  'There is no such wish on this wishlist.'
)
export const wishlistFullError = defineError(
  'conflict',
  'WISHLIST_FULL',
  'The wishlist is full; "limit" says how many wishes it holds.'
)
// No code throws this: the platform maps a violation of the constraint to it.
defineError('conflict', 'WISHLIST_WISH_TAKEN', 'This variant is wished for already.', {
  constraints: ['wishlist.wishes_variant']
})
