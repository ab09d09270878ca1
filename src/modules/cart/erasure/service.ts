import type { PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { CartService } from '../carts/service.ts'
import * as repository from './repository.ts'

/** Personal data of a customer in carts. */
export const cartPersonalData = ({ findStored }: Pick<CartService, 'findStored'>): PersonalDataHandler => ({
  async erase(tx, customer_id) {
    await tx.run(repository.deleteCartOfCustomer, { customer_id })
    await tx.run(repository.deleteCartMergeRecordsOfCustomer, { customer_id })
  },
  async export(customerId) {
    const { updatedAt, lines, metadata } = await findStored(customerId)
    const items = lines.map(line => ({
      variant_id: line.variantId,
      quantity: line.quantity,
      metadata: line.metadata
    }))
    return { items, updated_at: updatedAt, metadata }
  }
})
