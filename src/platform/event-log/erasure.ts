import type { EventType } from '../../kernel/events.ts'
import type { PersonalDataHandler } from '../personal-data.ts'
import type { Database } from '../postgres/database.ts'
import { statement } from '../postgres/statement.ts'

/** Events of these names that are about one of `words`: ids or e-mail addresses, as the subject or in a field of the payload. */
const ABOUT = `
  event.name = blank.name and not event.payload @> blank.fields and (
    event.subject::text = any ($words::text[])
    or exists (select from jsonb_each_text(event.payload) field where field.value = any ($words::text[]))
  )`
/** `blanks`: by event name, its personal fields with null. Reads the whole log, because erasures are rare. */
const blankPersonalFields = statement({
  name: 'event_log.blank_personal_fields',
  takes: { blanks: 'jsonb', words: 'text[]' },
  text: `
    update cartwright.events event set payload = event.payload || blank.fields
    from jsonb_each($blanks) as blank (name, fields) where ${ABOUT}`
})
const listPersonalEvents = statement({
  name: 'event_log.list_personal_events',
  slow: true,
  primaryOnly: true,
  takes: { blanks: 'jsonb', words: 'text[]' },
  gives: { name: 'text', occurred_at: 'timestamptz', payload: 'jsonb' },
  text: `
    select event.name, event.occurred_at, event.payload
    from cartwright.events event, jsonb_each($blanks) as blank (name, fields) where ${ABOUT}
    order by event.id`
})

/**
 * Returns how the personal fields of these events are exported and erased in the log. Undefined when no event declares any.
 * Positions, ids and the other fields of an erased event remain.
 */
export function eventLogPersonalData(
  db: Pick<Database, 'rows'>,
  events: readonly EventType[]
): PersonalDataHandler | undefined {
  const personal = events.filter(({ personalFields = [] }) => personalFields.length > 0)
  if (personal.length === 0) return undefined
  const blanks = Object.fromEntries(
    personal.map(({ name, personalFields = [] }) => [
      name,
      Object.fromEntries(personalFields.map(field => [field, null]))
    ])
  )
  return {
    erase: async (tx, userId) => void (await tx.run(blankPersonalFields, { blanks, words: [userId] })),
    export: userId => db.rows(listPersonalEvents, { blanks, words: [userId] }),
    guests: {
      erase: async (tx, { orderIds, emails }) =>
        void (await tx.run(blankPersonalFields, { blanks, words: [...orderIds, ...emails] })),
      export: ({ orderIds, emails }) =>
        db.rows(listPersonalEvents, { blanks, words: [...orderIds, ...emails] })
    }
  }
}
