import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const shippingSettings = settingsSection('Shipping.', {
  tracked_per_minute: integerSetting('Tracking requests per minute and client address.', 30)
})
