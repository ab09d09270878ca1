import { extendResource } from '../../../kernel/resources.ts'
import { Type } from '../../../kernel/schema.ts'
import { variantResource } from '../variants/schema.ts'

/**
 * The stock of a variant, which the inventory provides. The catalog declares it, because the inventory is set up before the catalog
 * and cannot name its resources.
 */
export const stockField = extendResource(variantResource, {
  field: 'stock',
  audience: 'public',
  // Stock changes with each order: a purge for each would leave nothing in a cache.
  purgedBy: 'expiry',
  schema: Type.Integer({
    description: 'Units that can be bought. Null: stock is not counted, or is unlimited.'
  })
})
