import { defineJob } from '../../../kernel/events.ts'

export const checkProductRatingsJob = defineJob(
  'reviews.check_ratings',
  {
    description: 'Compares the ratings of products with their reviews, and repairs wrong ones.',
    timeoutSeconds: 300,
    intervalSeconds: 86_400
  },
  {}
)
