import { count, section } from '../../kernel/settings.ts'

export const shippingSettings = section('Shipping.', {
  tracked_per_minute: count('How often it is told where a parcel is, by client address.', 30)
})
