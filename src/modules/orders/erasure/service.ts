import type { Guest, People } from '../../../platform/people.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { deleteRequestsOf } from '../data-requests/repository.ts'
import { ordersOpen } from '../errors.ts'
import type { OrderState } from '../life/status.ts'
import * as repository from './repository.ts'

type Deps = {
  auth: Pick<AuthApi, 'contacts'> | undefined
  payments: Pick<PaymentsApi, 'forget' | 'lock'> | undefined
  shipping: Pick<ShippingApi, 'forget'> | undefined
}

const OPEN: readonly OrderState[] = ['pending', 'placed']

/** Erases who ordered: the amounts of the orders stay, and what taxes rest on. */
export function createErasure({ auth, payments, shipping }: Deps) {
  /** Of a customer, or of guests (null). @throws `ORDER_STILL_OPEN`; then nothing is erased. */
  async function eraseOrders(tx: Transaction, customer_id: string | null, orderIds: readonly string[]) {
    await payments?.forget(tx, customer_id, orderIds)
    const locked = await tx.rows(repository.lockToErase, { customer_id, ids: orderIds })
    const open = locked.filter(({ state }) => OPEN.includes(state))
    if (open.length > 0) throw ordersOpen({ details: { numbers: open.map(({ number }) => number) } })
    const ids = locked.map(({ id }) => id)
    const of = { customer_id, ids }
    await tx.run(repository.deleteCheckouts, of)
    await shipping?.forget(tx, ids)
    await tx.run(repository.eraseOrders, { ids })
    await tx.run(repository.eraseHistory, of)
    await tx.run(repository.eraseAdjustments, of)
    await tx.run(repository.eraseShipments, { ids })
    await tx.run(repository.noteErased, { ids })
  }

  return {
    /** See `OrdersApi.forget`. */
    forget: async (tx: Transaction, customer_id: string): Promise<void> => {
      const [contact] = (await auth?.contacts([customer_id])) ?? []
      // Of an address that is not verified, the requests may be another person's.
      if (contact?.emailVerified && contact.email !== null)
        await tx.run(deleteRequestsOf, { email: contact.email })
      const rows = await tx.rows(repository.listOfCustomer, { customer_id })
      await eraseOrders(
        tx,
        customer_id,
        rows.map(({ id }) => id)
      )
    },
    /** Locks these orders, and the accounts of their payments before. Returns the ids of those that are still guests' and not erased. */
    lockGuestOrders: async (tx: Transaction, ids: readonly string[]): Promise<string[]> => {
      await Promise.all(ids.toSorted().map(id => payments?.lock(tx, id)))
      const locked = await tx.rows(repository.lockToErase, { customer_id: null, ids })
      return locked.map(({ id }) => id)
    },
    forgetGuest: (tx: Transaction, { orderIds }: Guest): Promise<void> => eraseOrders(tx, null, orderIds)
  }
}
type Erasure = ReturnType<typeof createErasure>

/** What orders keep of customers and guests. */
export const ordersOfPeople = (
  db: Database,
  { forget, forgetGuest }: Pick<Erasure, 'forget' | 'forgetGuest'>
): People => ({
  erase: forget,
  export: async customer_id => ({
    orders: await db.rows(repository.exportOrders, { customer_id }),
    checkouts: await db.rows(repository.exportCheckouts, { customer_id })
  }),
  guests: {
    erase: forgetGuest,
    export: async ({ orderIds }) => ({
      orders: await db.rows(repository.exportGuestOrders, { ids: orderIds })
    })
  }
})
