import { isId } from '../../../kernel/ids.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { mailboxOf } from './mailboxes.ts'
import * as repository from './repository.ts'

/**
 * Whose uses of promotions, and whose unpaid orders, are counted as one: a customer's by their id, a guest's by a keyed hash of
 * the mailbox of their e-mail address, from which nobody without the secret learns it. Null: of a guest nothing is known yet.
 */
export function buyerOf(secrets: Pick<Secrets, 'mac'>, customerId: string | null, email: string | null) {
  if (customerId !== null || email === null) return customerId
  return secrets.mac('orders.email', mailboxOf(email))
}

/** Whether a buyer has an order that is not canceled, but this one. */
export async function hasOrdered(db: Queryable, buyer: string, but: string | null): Promise<boolean> {
  const customer_id = isId(buyer) ? buyer : null
  return (await db.first(repository.hasOrdered, { buyer, customer_id, but }))?.has_ordered ?? false
}

/** The network that an order is made from, as it is kept. */
export const networkOf = (secrets: Pick<Secrets, 'mac'>, address: string): string =>
  secrets.mac('orders.network', address)
