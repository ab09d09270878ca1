import { integerSetting, settingsSection } from '../../kernel/settings.ts'

export const cartSettings = settingsSection('Carts.', {
  line_quantity_max: integerSetting('Maximum quantity of one variant in a cart or order.', 99, 1, 100_000),
  lines_max: integerSetting(
    'Maximum number of lines per cart. An order has at most 200 lines.',
    200,
    1,
    10_000
  ),
  idle_days: integerSetting('Days without a change after which a cart expires.', 30, 1, 3_650),
  guest_carts_per_minute: integerSetting('New guest carts per minute and client address.', 120)
})
