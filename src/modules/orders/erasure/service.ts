import type { People } from '../../../platform/people.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { ordersOpen } from '../errors.ts'
import type { OrderState } from '../life/status.ts'
import * as repository from './repository.ts'

type Deps = {
  payments: Pick<PaymentsApi, 'forget'> | undefined
  shipping: Pick<ShippingApi, 'forget'> | undefined
}

const OPEN: readonly OrderState[] = ['pending', 'placed']

/** Makes orders of somebody who leaves orders of nobody: their amounts stay, and who it was is gone. */
export function createErasure({ payments, shipping }: Deps) {
  /** See `OrdersApi.forget`. */
  return async (tx: Transaction, customer_id: string): Promise<void> => {
    const ids = (await tx.rows(repository.listOfCustomer, { customer_id })).map(({ id }) => id)
    await payments?.forget(tx, customer_id, ids)
    const locked = await tx.rows(repository.lockOfCustomer, { customer_id })
    const open = locked.filter(({ state }) => OPEN.includes(state))
    if (open.length > 0) throw ordersOpen({ details: { numbers: open.map(({ number }) => number) } })
    const of = { customer_id, ids }
    await tx.run(repository.deleteCheckouts, of)
    await shipping?.forget(tx, ids)
    await tx.run(repository.eraseOrders, { ids })
    await tx.run(repository.eraseHistory, of)
    await tx.run(repository.eraseAdjustments, of)
    await tx.run(repository.eraseShipments, { ids })
    await tx.run(repository.noteErased, { ids })
  }
}

/** What orders keep of somebody. */
export const ordersOfPeople = (db: Database, forget: People['erase']): People => ({
  erase: forget,
  export: async customer_id => ({
    orders: await db.rows(repository.exportOrders, { customer_id }),
    checkouts: await db.rows(repository.exportCheckouts, { customer_id })
  })
})
