import { count, section } from '../../kernel/settings.ts'

export const inventorySettings = section('Stock.', {
  queue_max: count(
    'Maximum number of stock changes that wait in a process. Further ones are rejected with 503.',
    20_000,
    1,
    200_000
  )
})
