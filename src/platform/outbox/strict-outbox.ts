import { isIP } from 'node:net'
import { compileSchema } from '../../kernel/compile-schema.ts'
import { type EventType, isWebhookEvent, type JobType } from '../../kernel/events.ts'
import type { Outbox } from './outbox.ts'

/**
 * Wraps the outbox of a shop in a test, so that it rejects payloads that violate the declared schema, and undeclared personal
 * data. In other shops, only TypeScript checks payloads.
 */
export function strictOutbox(outbox: Outbox): Outbox {
  const compiled = new WeakMap<object, ReturnType<typeof compileSchema>>()
  const check = ({ name, payload: schema }: EventType | JobType, payload: unknown) => {
    const errorsOf = compiled.get(schema) ?? compileSchema(schema)
    compiled.set(schema, errorsOf)
    const [error] = errorsOf(JSON.parse(JSON.stringify(payload)))
    if (error === undefined) return
    throw new Error(
      `the payload of ${name} does not match its declared schema: ${error.instancePath} (${error.keyword})`
    )
  }
  return {
    ...outbox,
    emit: (tx, type, subject, payload) => {
      check(type, payload)
      rejectUndeclaredPersonalData(type, payload)
      outbox.emit(tx, type, subject, payload)
    },
    enqueue: (tx, type, payload, options) => {
      check(type, payload)
      outbox.enqueue(tx, type, payload, options)
    }
  }
}

const EMAIL = /[^\s@]+@[^\s@]+\.[^\s@]+/

/** @throws Error for an e-mail or IP address in the event log, in a field that the event does not declare. */
function rejectUndeclaredPersonalData(type: EventType, payload: unknown): void {
  if (!isWebhookEvent(type)) return
  const { name, personalFields = [] } = type
  const isPersonal = (value: unknown): boolean =>
    typeof value === 'string'
      ? EMAIL.test(value) || isIP(value) !== 0
      : typeof value === 'object' && value !== null && Object.values(value).some(isPersonal)
  for (const [field, value] of Object.entries(payload ?? {}))
    if (!personalFields.includes(field) && isPersonal(value))
      throw new Error(
        `the payload of ${name} has personal data in ${field}: name an id instead, or declare the field in personalFields`
      )
}
