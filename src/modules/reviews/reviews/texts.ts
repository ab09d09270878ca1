import { matching } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { nullable } from '../../../kernel/wire.ts'

// What people write is plain text, and shown as that. Control characters, and those that turn the direction of what
// follows, have no place in it.
const INVISIBLE = '\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
const ONE_LINE = `\\u0000-\\u001f${INVISIBLE}`
const LINES = `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${INVISIBLE}`
/** Something that can be seen, and nothing of `without`. Written so that no text takes longer than its length. */
const visible = (without: string) => `^[^\\S${without}]*[^\\s${without}][^${without}]*$`

const NAME_LENGTH_MAX = 80
const plain = (maxLength: number, without: string, words: string, description: string) =>
  Type.String({ description, maxLength, ...matching(visible(without), words) })
const line = (maxLength: number, description: string) =>
  plain(maxLength, ONE_LINE, 'must be one line of text that can be seen', description)
const paragraphs = (maxLength: number, description: string) =>
  plain(maxLength, LINES, 'must be text that can be seen, without control characters', description)

export const Stars = Type.Integer({ minimum: 1, maximum: 5, description: 'Stars.' })
const Title = line(150, 'In a few words.')
const Body = paragraphs(5_000, 'Plain text; lines end with \\n.')
export const Reply = paragraphs(5_000, 'What the shop answers, as plain text.')
export const Reason = line(500, 'Why; its author can read it.')
const Author = plain(
  NAME_LENGTH_MAX,
  `${ONE_LINE}@`,
  'must be a name, and no e-mail address',
  'The name that others read; by default the first name of the account and an initial.'
)

/** What the author of a review says. */
export const writtenFields = {
  rating: Stars,
  title: Type.Optional(nullable(Title)),
  body: Type.Optional(nullable(Body)),
  author: Type.Optional(nullable(Author))
}
const Written = Type.Object(writtenFields)

const tidy = (text: string | null | undefined) => text?.replaceAll(/\r\n?/g, '\n').trim() ?? null

/** As it is kept: what is left out is null. */
export const tidied = ({ rating, title, body, author }: Static<typeof Written>) => ({
  rating,
  title: tidy(title),
  body: tidy(body),
  author: tidy(author)
})

/** What others read of a name: `Ada Lovelace` becomes `Ada L.`. Null where nothing may be shown. */
export function displayName(name: string | null): string | null {
  // Some write their e-mail address where their name belongs.
  if (name === null || name.includes('@')) return null
  const [first, ...others] = name
    .replaceAll(new RegExp(`[${ONE_LINE}]`, 'gu'), ' ')
    .trim()
    .split(/\s+/)
  if (first === undefined || first === '') return null
  const [initial] = others.at(-1) ?? ''
  return [...first].slice(0, NAME_LENGTH_MAX - 3).join('') + (initial === undefined ? '' : ` ${initial}.`)
}
