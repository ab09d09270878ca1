import { matching } from '../../../kernel/patterns.ts'
import { Type } from '../../../kernel/schema.ts'

const DAY_OR_MOMENT =
  '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$'

/** When something starts or ends. */
export const DayOrMoment = Type.String({
  description:
    'A moment, or a day in `shop.time_zone`, which starts with its first and ends with its last instant.',
  maxLength: 40,
  ...matching(DAY_OR_MOMENT, 'must be a day or a moment, such as 2026-03-01 or 2026-03-01T08:00:00Z')
})
