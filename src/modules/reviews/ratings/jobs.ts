import { defineJob } from '../../../kernel/events.ts'

export const checkCounts = defineJob(
  'reviews.check_ratings',
  {
    description: 'Compares what products are rated with their reviews, and mends what differs.',
    seconds: 300,
    everySeconds: 86_400
  },
  {}
)
