import { count, section } from '../../kernel/settings.ts'

export const shippingSettings = section('Shipping.', {
  tracked_per_minute: count('Tracking requests per minute and client address.', 30)
})
