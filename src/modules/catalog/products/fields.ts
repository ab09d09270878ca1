import { patternWithMessage } from '../../../kernel/patterns.ts'
import { defineResource } from '../../../kernel/resources.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, response } from '../../../kernel/wire.ts'

/** Products. Modules can add fields to their public and administrative reads, and to their create and update. */
export const productResource = defineResource('catalog.product', { audiences: ['public', 'admin'] })

// Fields that the schemas of this module share.
export const HTTP_URL_PATTERN = '^https?://[^\\s\\u0000-\\u001f<>"]+$'
export const URL_LENGTH_MAX = 2_048
export const SLUG_PATTERN = '^[\\p{L}\\p{N}\\p{M}_-]+$'
export const SLUG_LENGTH_MAX = 255
export const IMAGE_ALT_LENGTH_MAX = 1_000

export const SlugSchema = Type.String({
  description: 'Name in URLs: letters, digits, hyphens and underscores.',
  minLength: 1,
  maxLength: SLUG_LENGTH_MAX,
  ...patternWithMessage(SLUG_PATTERN, 'must be letters, digits, hyphens and underscores')
})
export const HttpUrlSchema = Type.String({
  maxLength: URL_LENGTH_MAX,
  ...patternWithMessage(HTTP_URL_PATTERN, 'must be a web address, such as https://example.com/picture.jpg')
})
export const PRODUCT_STATUSES = ['draft', 'active', 'archived'] as const
export const ProductStatusSchema = Type.Enum([...PRODUCT_STATUSES])
export const VariantAttributesSchema = Type.Record(
  Type.String(
    patternWithMessage(
      '^[^\\u0000-\\u001f\\u007f]{1,100}$',
      'must have a name of one line, 100 characters at most'
    )
  ),
  line(255),
  {
    description: 'Option values that distinguish the variant, such as {"Colour":"Red"}.',
    maxProperties: 20,
    additionalProperties: false
  }
)
export const StoredVariantAttributesSchema = Type.Record(Type.String({ pattern: '^' }), Type.String())
export const ImageResponse = response('ImageResponse', {
  url: Type.String(),
  alt: nullable(Type.String()),
  position: Type.Integer()
})
export const CategoryLinkResponse = response('CategoryLinkResponse', {
  id: Id,
  slug: Type.String(),
  name: Type.String()
})

export const IdOrSlugParams = input({ id: line(255, 'Id or slug.') })
