import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { nullable } from '../../../kernel/wire.ts'

// Reviews are plain text. Control characters and bidirectional overrides are rejected, because they can hide
// or rearrange text.
const INVISIBLE = '\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069'
const NOT_IN_LINES = `\\u0000-\\u001f${INVISIBLE}`
const NOT_IN_PARAGRAPHS = `\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${INVISIBLE}`
/** Matches text with a visible character and no character of `without`, in linear time. */
const visiblePattern = (without: string) => `^[^\\S${without}]*[^\\s${without}][^${without}]*$`

const NAME_LENGTH_MAX = 80
const plainText = (maxLength: number, without: string, words: string, description: string) =>
  Type.String({ description, maxLength, ...patternWithMessage(visiblePattern(without), words) })
const line = (maxLength: number, description: string) =>
  plainText(maxLength, NOT_IN_LINES, 'must be one line of text that can be seen', description)
const paragraphs = (maxLength: number, description: string) =>
  plainText(
    maxLength,
    NOT_IN_PARAGRAPHS,
    'must be text that can be seen, without control characters',
    description
  )

export const ReviewStarsSchema = Type.Integer({ minimum: 1, maximum: 5, description: 'Stars, 1 to 5.' })
const Title = line(150, 'Title of the review.')
const Body = paragraphs(5_000, 'Plain text. Lines end with \\n.')
export const ReviewReplySchema = paragraphs(5_000, 'Reply of the shop, as plain text.')
export const ReviewRejectionReasonSchema = line(500, 'Why the review is rejected. Its author can read it.')
const Author = plainText(
  NAME_LENGTH_MAX,
  `${NOT_IN_LINES}@`,
  'must be a name, and no e-mail address',
  'Public name of the author. Defaults to the first name of the account and an initial.'
)

/** Fields that the author of a review writes. */
export const authorReviewRequestFields = {
  rating: ReviewStarsSchema,
  title: Type.Optional(nullable(Title)),
  body: Type.Optional(nullable(Body)),
  author: Type.Optional(nullable(Author))
}
const Written = Type.Object(authorReviewRequestFields)

const normalizeText = (text: string | null | undefined) => text?.replaceAll(/\r\n?/g, '\n').trim() ?? null

/** Returns the fields as they are stored. Omitted fields become null. */
export const normalizeReviewInput = ({ rating, title, body, author }: Static<typeof Written>) => ({
  rating,
  title: normalizeText(title),
  body: normalizeText(body),
  author: normalizeText(author)
})

/** Returns the public form of a name: `Ada Lovelace` becomes `Ada L.`. Null when no name can be shown. */
export function publicAuthorName(name: string | null): string | null {
  // Some customers enter their e-mail address as their name.
  if (name === null || name.includes('@')) return null
  const [first, ...others] = name
    .replaceAll(new RegExp(`[${NOT_IN_LINES}]`, 'gu'), ' ')
    .trim()
    .split(/\s+/)
  if (first === undefined || first === '') return null
  const [initial] = others.at(-1) ?? ''
  return [...first].slice(0, NAME_LENGTH_MAX - 3).join('') + (initial === undefined ? '' : ` ${initial}.`)
}
