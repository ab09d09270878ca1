import { count, section } from '../../kernel/settings.ts'

export const inventorySettings = section('Stock.', {
  queue_max: count('The most changes of stock that wait in a process; more are refused.', 20_000, 1, 200_000)
})
