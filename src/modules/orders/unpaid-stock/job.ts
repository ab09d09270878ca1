import { defineJob } from '../../../kernel/events.ts'

export const watchUnpaidStock = defineJob(
  'orders.watch_unpaid_stock',
  {
    description: 'Tells staff when unpaid orders reserve a large share of some variants.',
    seconds: 60,
    everySeconds: 300
  },
  {}
)
