import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, nullable, Version } from '../../../kernel/wire.ts'
import { Slug } from '../products/fields.ts'

const fields = {
  name: line(255),
  slug: Type.Optional(Slug),
  parent_id: Type.Optional(nullable(Id)),
  position: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }))
}

export const CategoryBody = input(fields)
export type CategoryBody = Static<typeof CategoryBody>

export const PatchCategory = input({ ...fields, name: Type.Optional(fields.name) })
export type PatchCategory = Static<typeof PatchCategory>

export const Category = Type.Object({
  id: Id,
  parent_id: nullable(Id),
  slug: Type.String(),
  name: Type.String(),
  position: Type.Integer(),
  version: Version
})
export type Category = Static<typeof Category>

export type CategoryNode = Category & { children: CategoryNode[] }
export const CategoryNode = Type.Object({
  ...Category.properties,
  children: Type.Array(Type.Unsafe<CategoryNode>({ type: 'object', additionalProperties: true }), {
    description: 'Categories like this one.'
  })
})
