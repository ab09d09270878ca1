import { settings } from 'cartwright'

export const wishlistSettings = settings.settingsSection('Wishlists.', {
  wishes_max: settings.integerSetting('The most wishes of one customer.', 100)
})
