import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const shippingSettings = settingsSection('Shipping.', {
  provider_timeout_ms: integerSetting(
    'Milliseconds that a provider of rates has to respond. Then its options are omitted.',
    2_000,
    1,
    10_000
  ),
  provider_rates_minutes: integerSetting(
    'Minutes for which the rates of a provider stay the same for a parcel, so that the order costs what the buyer saw.',
    15,
    1,
    1_440
  ),
  label_document_days: integerSetting(
    'Days after which the documents of shipping labels are deleted. They contain addresses.',
    90,
    1,
    3_650
  ),
  tracked_per_minute: integerSetting('Tracking requests per minute and client address.', 30)
})
