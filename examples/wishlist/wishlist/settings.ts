import { settings } from 'cartwright'

export const wishlistSettings = settings.section('Wishlists.', {
  wishes_max: settings.count('The most wishes of one customer.', 100)
})
