import { OperatorError } from '../kernel/errors.ts'

/** A date, which means midnight UTC, or a date and time with a UTC offset (ISO 8601). */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Parses the value of an option as an instant. @throws OperatorError */
export function parseInstantOption(option: string, text: string): Date {
  const instant = new Date(text)
  if (!INSTANT.test(text) || Number.isNaN(instant.getTime()))
    throw new OperatorError(
      `${option} ${text} is not a point in time. Write it as 2026-11-22 or 2026-11-22T07:00:00Z.`
    )
  return instant
}
