import { count, section } from '../../kernel/settings.ts'

export const cartSettings = section('Carts.', {
  line_quantity_max: count('The largest quantity of one line.', 99, 1, 100_000),
  lines_max: count('The most lines of one cart. Nobody can order more than 200 at once.', 200, 1, 10_000),
  idle_days: count('A cart not changed for so long has expired, in days.', 30, 1, 3_650),
  guest_carts_per_minute: count('New carts of guests, by client address.', 120)
})
