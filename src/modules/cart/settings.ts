import { count, section } from '../../kernel/settings.ts'

export const cartSettings = section('Carts.', {
  line_quantity_max: count('Maximum quantity of one line.', 99, 1, 100_000),
  lines_max: count('Maximum number of lines per cart. An order has at most 200 lines.', 200, 1, 10_000),
  idle_days: count('Days without a change after which a cart expires.', 30, 1, 3_650),
  guest_carts_per_minute: count('New guest carts per minute and client address.', 120)
})
