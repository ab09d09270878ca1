import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './personal-data-repository.ts'

/** Personal data in pricing: tax exemptions, and redemptions of promotions. */
export const pricingPersonalData = ({
  db,
  exemptionChanges
}: {
  db: Database
  exemptionChanges: CacheInvalidator
}): PersonalDataHandler => ({
  async erase(tx, customer_id) {
    const customer = customer_id
    if ((await tx.run(repository.deleteCustomerTaxExemptions, { customer_id })) > 0)
      exemptionChanges.publish(tx)
    await tx.run(repository.anonymizeCustomerPromotionRedemptions, { customer })
    await tx.run(repository.deleteCustomerPromotionUses, { customer })
    await tx.run(repository.deleteFirstOrderPromotionUseOfCustomer, { customer })
  },
  async export(customer_id) {
    return {
      tax_exemptions: await db.rows(repository.exportCustomerTaxExemptions, { customer_id }),
      redemptions: await db.rows(repository.exportCustomerPromotionRedemptions, { customer: customer_id })
    }
  },
  guests: {
    async erase(tx, { orderIds, buyers }) {
      if (buyers.length > 0) await tx.run(repository.deletePromotionUsesOfOrderBuyers, { owners: orderIds })
      await tx.run(repository.anonymizeOrderPromotionRedemptions, { owners: orderIds })
    },
    export: async ({ orderIds }) => ({
      redemptions: await db.rows(repository.exportOrderPromotionRedemptions, { owners: orderIds })
    })
  }
})
