import { OperatorError } from '../kernel/errors.ts'

/** A day begins at midnight UTC. */
const INSTANT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/

/** The instant that an option names. @throws OperatorError */
export function instantOf(option: string, text: string): Date {
  const instant = new Date(text)
  if (!INSTANT.test(text) || Number.isNaN(instant.getTime()))
    throw new OperatorError(
      `${option} ${text} is no instant; write it as 2026-11-22 or 2026-11-22T07:00:00Z.`
    )
  return instant
}
