import { type TSchema, Type } from './schema.ts'
import { listOf, Time } from './wire.ts'

/** Query parameters of lists that systems poll for changes. */
export const changeListQueryFields = {
  updated_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Only entries that changed at this time or later, the oldest change first. Start with 1970-01-01T00:00:00Z, then send `next_since`. Cannot be combined with filters.'
    })
  )
}
/** The response of a list with `changeQuery`. Pass a name when `listOf` is used with the same item. */
export const changeListResponse = <T extends TSchema>(item: T, title?: `${string}ListResponse`) => {
  const { properties, ...list } = listOf(item)
  return Type.Object(
    {
      ...properties,
      next_since: Type.Optional({
        ...Time,
        description:
          'Only with `updated_since`: the value for the next poll, once `next_cursor` is null. Entries can repeat.'
      })
    },
    { title: title ?? String((list as { title?: string }).title) }
  )
}
