import type { GuestIdentity, PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrderPayments } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { ordersStillOpenError } from '../errors.ts'
import type { OrderLifecycleState } from '../lifecycle/status.ts'
import { deleteDataRequestsOfEmail } from './data-request-repository.ts'
import * as repository from './repository.ts'

type Deps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  payments: Pick<OrderPayments, 'erase' | 'lockAccount'> | undefined
  shipping: Pick<ShippingApi, 'erase'> | undefined
}

const OPEN: readonly OrderLifecycleState[] = ['pending', 'placed']

/** Erases personal data of orders. Keeps amounts and what taxes depend on. */
export function createOrderErasure({ auth, payments, shipping }: Deps) {
  /**
   * Erases these orders of a customer, or of guests (null). @throws `ORDER_STILL_OPEN`; then nothing is
   * erased.
   */
  async function eraseOrders(tx: Transaction, customer_id: string | null, orderIds: readonly string[]) {
    await payments?.erase(tx, customer_id, orderIds)
    const locked = await tx.rows(repository.lockOrdersToErase, { customer_id, ids: orderIds })
    const open = locked.filter(({ state }) => OPEN.includes(state))
    if (open.length > 0)
      throw ordersStillOpenError({ details: { numbers: open.map(({ number }) => number) } })
    const ids = locked.map(({ id }) => id)
    const of = { customer_id, ids }
    await tx.run(repository.deleteCheckoutsOfCustomerAndOrders, of)
    await shipping?.erase(tx, ids)
    await tx.run(repository.eraseOrderPersonalData, { ids })
    await tx.run(repository.eraseOrderHistoryReasons, of)
    await tx.run(repository.eraseAdjustmentReasons, of)
    await tx.run(repository.eraseShipmentTracking, { ids })
    await tx.run(repository.insertOrderErasureHistory, { ids })
  }

  return {
    /** See `OrdersApi.erase`. */
    erase: async (tx: Transaction, customer_id: string): Promise<void> => {
      const [contact] = (await auth?.contacts([customer_id])) ?? []
      // Data requests of an unverified address may belong to another person, so they are not deleted.
      if (contact?.emailVerified && contact.email !== null)
        await tx.run(deleteDataRequestsOfEmail, { email: contact.email })
      const rows = await tx.rows(repository.listOrderIdsOfCustomer, { customer_id })
      await eraseOrders(
        tx,
        customer_id,
        rows.map(({ id }) => id)
      )
    },
    /**
     * Locks the payment accounts and then the orders. Returns the ids of orders that still belong to guests.
     */
    lockGuestOrders: async (tx: Transaction, ids: readonly string[]): Promise<string[]> => {
      await Promise.all(ids.toSorted().map(id => payments?.lockAccount(tx, id)))
      const locked = await tx.rows(repository.lockOrdersToErase, { customer_id: null, ids })
      return locked.map(({ id }) => id)
    },
    eraseGuest: (tx: Transaction, { orderIds }: GuestIdentity): Promise<void> =>
      eraseOrders(tx, null, orderIds)
  }
}
type Erasure = ReturnType<typeof createOrderErasure>

/** Personal data of customers and guests in orders and checkouts. */
export const orderPersonalData = (
  db: Database,
  { erase, eraseGuest }: Pick<Erasure, 'erase' | 'eraseGuest'>
): PersonalDataHandler => ({
  erase,
  export: async customer_id => ({
    orders: await db.rows(repository.exportOrdersOfCustomer, { customer_id }),
    checkouts: await db.rows(repository.exportCheckoutsOfCustomer, { customer_id })
  }),
  guests: {
    erase: eraseGuest,
    export: async ({ orderIds }) => ({
      orders: await db.rows(repository.exportGuestOrdersByIds, { ids: orderIds })
    })
  }
})
