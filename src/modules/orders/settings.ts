import { Type } from '../../kernel/schema.ts'
import { integerSetting, type SettingsOf, settingsSection } from '../../kernel/settings.ts'

const limit = (unitsMax: number, sharePercent: number, unitsAlways: number) => ({
  units_max: integerSetting(
    'Maximum number of reserved units of all variants together.',
    unitsMax,
    1,
    1_000_000_000
  ),
  share_percent: integerSetting(
    'Maximum share of one variant, in percent of its units that are available or reserved by unpaid orders.',
    sharePercent,
    1,
    100
  ),
  units_always: integerSetting(
    'Units of a variant that are always allowed, whatever the share.',
    unitsAlways,
    0,
    1_000_000
  )
})

export const ordersSettings = settingsSection('Checkouts and orders.', {
  checkout_minutes: integerSetting(
    'Minutes without a change after which a checkout expires.',
    360,
    5,
    43_200
  ),
  checkouts_per_minute: integerSetting(
    'New checkouts per minute and customer; for guests, per client address.',
    30
  ),
  orders_per_minute: integerSetting(
    'New orders per minute and customer; for guests, per client address.',
    30
  ),
  pending_per_buyer: integerSetting(
    'Maximum number of unpaid orders per customer; for guests, per email address and network.',
    5
  ),
  pending_per_address: integerSetting('Maximum number of unpaid orders per client address.', 50),
  customer_cancel: Type.Enum(['unpaid', 'unshipped', 'never'], {
    description:
      'Until when customers and guests can cancel an order. `unpaid`: until it is paid; `unshipped`: until it is shipped; `never`: not at all.',
    default: 'unshipped'
  }),
  expiry: settingsSection('When unpaid orders expire and are canceled.', {
    minutes: integerSetting(
      'Minutes until an unpaid order with an immediate payment method, such as a card, expires.',
      30,
      1,
      43_200
    ),
    transfer_hours: integerSetting('Hours until an unpaid order by bank transfer expires.', 24, 1, 8_760),
    transfer_days: integerSetting(
      'Days until an unpaid order by bank transfer expires when the customer has a verified email address.',
      7,
      1,
      365
    )
  }),
  unpaid_stock: settingsSection(
    'Limits on the stock that unpaid orders by bank transfer, cash on delivery or on account reserve.',
    {
      buyer: settingsSection(
        'Unpaid orders of one customer, or of one guest email address.',
        limit(500, 50, 5)
      ),
      network: settingsSection(
        'Unpaid orders of one client address or IPv6 network (/64).',
        limit(1_000, 50, 5)
      ),
      unverified: settingsSection(
        'Unpaid orders of all guests and all customers without a verified email address, together.',
        limit(10_000, 80, 20)
      ),
      protected_units: integerSetting(
        'Units that card payments never evict from the unpaid orders of a customer with a verified email address, or from the new card orders of one network, earliest first.',
        3,
        0,
        1_000_000
      ),
      card_minutes: integerSetting(
        'Minutes during which an unpaid card order counts as new, so that its protected units cannot be evicted.',
        10,
        0,
        43_200
      ),
      contested_units: integerSetting(
        'Maximum number of units that pending card orders of one client address or IPv6 network (/64) may contest: units that other unpaid orders reserve and that the card payment would evict.',
        100,
        0,
        1_000_000
      ),
      alert_percent: integerSetting(
        'Share of a variant reserved by unpaid orders above which staff get a mail, in percent; 0: no mail.',
        50,
        0,
        100
      )
    }
  ),
  completed_after_days: integerSetting(
    'Days without a change, other than of metadata, after which a fully shipped and paid order is completed.',
    30,
    1,
    3_650
  ),
  guest_data_days: integerSetting(
    "Days after which personal data of a guest's completed or canceled order is erased; 0: never.",
    0,
    0,
    36_500
  ),
  history_retention_years: integerSetting(
    'Full calendar years (UTC) after which the history of orders is deleted. The orders stay. Many laws demand ten years.',
    10,
    10,
    1_000
  ),
  unknown_codes_per_minute: integerSetting('Unknown promotion codes per minute and client address.', 60, 10)
})
export type OrdersSettings = SettingsOf<typeof ordersSettings>
