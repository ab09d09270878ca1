import { addDays, createTimeZoneDays, isCalendarDay } from '../../../kernel/days.ts'
import { patternWithMessage } from '../../../kernel/patterns.ts'
import { Type } from '../../../kernel/schema.ts'
import { validityPeriodDateInvalidError } from '../errors.ts'

const DAY_OR_MOMENT =
  '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?$'

/** Start or end of a period. */
export const DayOrTimestampSchema = Type.String({
  description: 'A time, or a day in `shop.time_zone`. A day counts in full, as a start and as an end.',
  maxLength: 40,
  ...patternWithMessage(
    DAY_OR_MOMENT,
    'must be a day or a moment, such as 2026-03-01 or 2026-03-01T08:00:00Z'
  )
})

/** Parses days and times of requests. Days are in the shop's time zone. */
export type PricingPeriodParser = ReturnType<typeof createPricingPeriodParser>

export function createPricingPeriodParser(timeZone: string) {
  const { startOf } = createTimeZoneDays(timeZone)

  function instantOf(text: string, edge: 'starts_at' | 'ends_at'): Date {
    const day = text.slice(0, 10)
    const instant = text.length > 10 ? Date.parse(text) : Number.NaN
    if (!isCalendarDay(day) || (text.length > 10 && Number.isNaN(instant))) {
      const errors = [{ path: `body/${edge}`, message: 'must be a day that there is' }]
      throw validityPeriodDateInvalidError({ details: { errors } })
    }
    if (text.length > 10) return new Date(instant)
    return new Date(startOf(edge === 'starts_at' ? day : addDays(day)))
  }

  return {
    /** Returns undefined and null unchanged. @throws `PRICING_MOMENT_INVALID` for an invalid day */
    read: <T extends string | null | undefined>(text: T, edge: 'starts_at' | 'ends_at') =>
      (typeof text === 'string' ? instantOf(text, edge) : text) as T extends string ? Date : T
  }
}
