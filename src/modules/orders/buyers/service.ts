import { isId } from '../../../kernel/ids.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { AuthApi } from '../../auth/index.ts'
import { mailboxOfEmail } from './mailboxes.ts'
import * as repository from './repository.ts'

export type BuyerLimitKeys = {
  /**
   * For limits of unpaid orders: the account, or the mailbox of a guest; null: a guest without an email
   * address.
   */
  readonly key: string | null
  /**
   * For promotions, while an order is unpaid: the account, or the mailbox of a guest together with their
   * network. A stranger who types the address of another person has another network and takes nothing from
   * them.
   */
  readonly customer: string | null
  /**
   * For promotions, once an order is paid: the keyed hash of the mailbox of a guest, or of the account's
   * email address.
   */
  readonly mailbox: string | null
  /** Whether a customer has verified their email address. False for a guest. */
  readonly isVerified: boolean
}
type Deps = { secrets: Pick<Secrets, 'mac'>; auth: Pick<AuthApi, 'contacts'> | undefined }
/** `network`: see `hashClientNetwork`. Null: an administrator orders, and the network of the buyer is unknown. */
type BuyerFacts = {
  readonly customerId: string | null
  readonly email: string | null
  readonly network: string | null
}

/**
 * Finds the keys by which the orders of one buyer are counted. The hashes reveal no address without the
 * secret.
 */
export function createBuyerLimitKeyFinder({ secrets, auth }: Deps) {
  const hashOf = (email: string | null | undefined): string | null =>
    email == null ? null : secrets.mac('orders.email', mailboxOfEmail(email))

  return async ({ customerId, email, network }: BuyerFacts): Promise<BuyerLimitKeys> => {
    if (customerId !== null) {
      const [contact] = (await auth?.contacts([customerId])) ?? []
      const isVerified = contact?.emailVerified ?? false
      return { key: customerId, customer: customerId, mailbox: hashOf(contact?.email), isVerified }
    }
    const mailbox = hashOf(email)
    const customer = mailbox === null || network === null ? mailbox : `${mailbox} ${network}`
    return { key: mailbox, customer, mailbox, isVerified: false }
  }
}
export type FindBuyerLimitKeys = ReturnType<typeof createBuyerLimitKeyFinder>

/**
 * Returns whether a buyer has an order that counts as an earlier order, except the order `but`. See
 * `BuyerLimitKeys` for `customer` and `mailbox`.
 */
export async function hasBuyerOrdered(
  db: Queryable,
  customer: string,
  but: string | null,
  mailbox: string | null
): Promise<boolean> {
  const customer_id = isId(customer) ? customer : null
  const found = await db.first(repository.findWhetherBuyerOrdered, { customer, customer_id, mailbox, but })
  return found?.has_ordered ?? false
}

/** Returns the keyed hash of a client network, which is stored instead of the network. */
export const hashClientNetwork = (secrets: Pick<Secrets, 'mac'>, address: string): string =>
  secrets.mac('orders.network', address)

/** See `OrdersApi.findPurchased`. */
export async function findPurchasedCatalogIds(
  db: Queryable,
  customer_id: string,
  ids: readonly string[]
): Promise<ReadonlySet<string>> {
  const rows = await db.rows(repository.listPurchasedCatalogIds, { customer_id, ids: [...ids] })
  return new Set(rows.map(({ id }) => id))
}
