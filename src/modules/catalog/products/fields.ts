import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { type TSchema, Type } from '../../../kernel/schema.ts'

// What the schemas of this module have in common. Text must be printable: PostgreSQL cannot store NUL, which a URL
// can carry where the body parser does not look.
const LINE = '^[^\\u0000-\\u001f\\u007f]*$'

export const HTTP_URL = '^https?://[^\\s\\u0000-\\u001f<>"]+$'
export const URL_LENGTH_MAX = 2_048
export const SLUG = '^[\\p{L}\\p{N}\\p{M}_-]+$'
export const SLUG_LENGTH_MAX = 255
export const ALT_LENGTH_MAX = 1_000

export const input = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
export const line = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: LINE, ...(description && { description }) })
export const listOf = <T extends TSchema>(item: T) =>
  Type.Object({
    items: Type.Array(item),
    next_cursor: nullable(Type.String()),
    total: Type.Optional(Type.Integer({ description: 'How many there are in all; only with count=true.' }))
  })

export const Id = Type.String({
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
})
export const Time = Type.String({ format: 'date-time' })
export const Slug = Type.String({
  description: 'Its name in addresses: letters, digits, hyphens.',
  minLength: 1,
  maxLength: SLUG_LENGTH_MAX,
  pattern: SLUG
})
export const Amount = Type.Integer({ description: 'In minor units.', minimum: 0, maximum: AMOUNT_MAX })
export const HttpUrl = Type.String({ maxLength: URL_LENGTH_MAX, pattern: HTTP_URL })
export const STATUSES = ['draft', 'active', 'archived'] as const
export const Status = Type.Enum([...STATUSES])
export const Attributes = Type.Record(
  Type.String({ pattern: '^[^\\u0000-\\u001f\\u007f]{1,100}$' }),
  line(255),
  {
    description: 'What sets the variant apart, such as {"Colour":"Red"}.',
    maxProperties: 20,
    additionalProperties: false
  }
)
export const StoredAttributes = Type.Record(Type.String({ pattern: '^' }), Type.String())
export const Image = Type.Object({
  url: Type.String(),
  alt: nullable(Type.String()),
  position: Type.Integer()
})
export const CategoryLink = Type.Object({ id: Id, slug: Type.String(), name: Type.String() })

export const IdParams = input({ id: Id })
export const IdOrSlugParams = input({ id: line(255, 'Id or slug.') })
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 2_048 })),
  count: Type.Optional(Type.Boolean({ description: 'Whether to add `total`.' }))
}
