import { createDays, dayAfter, isDay } from '../../../kernel/days.ts'
import { momentInvalid } from '../errors.ts'

/** Reads days and moments as they were sent; days in the time zone of the shop. */
export type Periods = ReturnType<typeof createPeriods>

export function createPeriods(timeZone: string) {
  const { startOf } = createDays(timeZone)

  function instantOf(text: string, edge: 'starts_at' | 'ends_at'): Date {
    const day = text.slice(0, 10)
    const instant = text.length > 10 ? Date.parse(text) : Number.NaN
    if (!isDay(day) || (text.length > 10 && Number.isNaN(instant))) {
      const errors = [{ path: `body/${edge}`, message: 'must be a day that there is' }]
      throw momentInvalid({ details: { errors } })
    }
    if (text.length > 10) return new Date(instant)
    return new Date(startOf(edge === 'starts_at' ? day : dayAfter(day)))
  }

  return {
    /** Undefined and null stay what they are. @throws `PRICING_MOMENT_INVALID` for a day that there is not. */
    read: <T extends string | null | undefined>(text: T, edge: 'starts_at' | 'ends_at') =>
      (typeof text === 'string' ? instantOf(text, edge) : text) as T extends string ? Date : T
  }
}
