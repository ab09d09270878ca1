import type { People } from '../../../platform/people.ts'
import type { CartService } from '../carts/service.ts'
import * as repository from './repository.ts'

/** What carts keep of somebody. */
export const cartsOfPeople = ({ stored }: Pick<CartService, 'stored'>): People => ({
  async erase(tx, customer_id) {
    await tx.run(repository.deleteCart, { customer_id })
    await tx.run(repository.deleteMerges, { customer_id })
  },
  async export(customerId) {
    const { updatedAt, lines } = await stored(customerId)
    const items = lines.map(({ variantId, quantity }) => ({ variant_id: variantId, quantity }))
    return { items, updated_at: updatedAt }
  }
})
