import { defineJob } from '../../../kernel/events.ts'

export const eraseOldGuestData = defineJob(
  'orders.erase_old_guest_data',
  {
    description:
      'Erases personal data of guests whose orders were closed longer ago than `orders.guest_data_days`.',
    seconds: 600,
    everySeconds: 86_400
  },
  {}
)
