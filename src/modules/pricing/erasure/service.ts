import type { Changes } from '../../../platform/kept.ts'
import type { People } from '../../../platform/people.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

/** What prices rest on of somebody: taxes that they do not pay, and promotions that they used. */
export const pricesOfPeople = ({
  db,
  exemptionChanges
}: {
  db: Database
  exemptionChanges: Changes
}): People => ({
  async erase(tx, customer_id) {
    const customer = customer_id
    if ((await tx.run(repository.deleteExemptionsOf, { customer_id })) > 0) exemptionChanges.announce(tx)
    await tx.run(repository.eraseRedemptionsOf, { customer })
    await tx.run(repository.deleteUsesOf, { customer })
    await tx.run(repository.deleteFirstOrderOf, { customer })
  },
  async export(customer_id) {
    return {
      tax_exemptions: await db.rows(repository.exportExemptionsOf, { customer_id }),
      redemptions: await db.rows(repository.exportRedemptionsOf, { customer: customer_id })
    }
  },
  guests: {
    async erase(tx, { orderIds, buyers }) {
      if (buyers.length > 0) await tx.run(repository.deleteUsesOfOrders, { owners: orderIds })
      await tx.run(repository.eraseRedemptionsOfOrders, { owners: orderIds })
    },
    export: async ({ orderIds }) => ({
      redemptions: await db.rows(repository.exportRedemptionsOfOrders, { owners: orderIds })
    })
  }
})
