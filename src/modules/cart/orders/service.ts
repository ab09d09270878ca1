import { newId } from '../../../kernel/ids.ts'
import { type Metadata, mergeEqualLines } from '../../../kernel/metadata.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { type CartLimits, type CartLine, computeUpsertedCartLineChanges } from '../carts/lines.ts'
import * as carts from '../carts/repository.ts'
import { cartChangedDuringOrderError } from '../errors.ts'
import { lineMetadataBytesMaxOf, mergeCartLines } from '../merge/rule.ts'
import * as repository from './repository.ts'

type Settings = CartLimits & { readonly idleSeconds: number }
/** The customer of an order, null for a guest, and the cart that the order emptied. */
type OrderedCart = { readonly customerId: string | null; readonly cartId: string }

/** A line of an order. `metadata` is empty when it is absent. */
type OrderedLine = Pick<CartLine, 'variantId' | 'quantity'> & { readonly metadata?: Metadata }

/** Cart operations of orders. Each runs in the transaction of the order, before `pricing.redeem`. */
export function createCartOrderOperations(settings: Settings) {
  /**
   * Empties a cart that still has this version. With `canReturnLines` the cart of a guest stays for as long as one that was changed,
   * because the order may expire and return its lines. @throws `CART_CHANGED` when it has changed, expired, or is empty.
   */
  async function emptyForOrder(
    tx: Transaction,
    cartId: string,
    version: number,
    { canReturnLines }: { canReturnLines: boolean }
  ): Promise<void> {
    const idle_seconds = canReturnLines ? settings.idleSeconds : null
    const wanted = { cart_id: cartId, version, idle_seconds }
    if ((await tx.first(repository.emptyCartForOrder, wanted)) === undefined)
      throw cartChangedDuringOrderError()
  }

  /**
   * Restores the lines of a canceled order to the customer's cart, or to the guest's cart if it still exists.
   * The cart then has at least the ordered quantity of each line, as far as the limits of carts allow.
   */
  async function restoreLines(
    tx: Transaction,
    { customerId, cartId }: OrderedCart,
    lines: readonly OrderedLine[]
  ): Promise<void> {
    if (customerId === null && !(await isGuestCartOpen(tx, cartId))) return
    const id = customerId ?? cartId
    const present = await carts.lockOrCreateCart(tx, id)
    const restored = lines.map(({ metadata = {}, ...line }) => ({ ...line, id: newId(), metadata }))
    const { changed } = mergeCartLines({
      customer: present.lines,
      guest: mergeEqualLines(restored),
      strategy: 'max',
      limits: { ...settings, metadataBytesMax: lineMetadataBytesMaxOf(present) },
      sellableOf: anyQuantity
    })
    if (changed.length === 0) return
    await carts.saveCart(tx, id, computeUpsertedCartLineChanges(present.lines, changed), settings.idleSeconds)
  }

  return { emptyForOrder, restoreLines }
}
export type CartOrderOperations = ReturnType<typeof createCartOrderOperations>

/** Locks the row of the token before the cart, as all other writes do. */
const isGuestCartOpen = async (tx: Transaction, cartId: string): Promise<boolean> =>
  (await tx.first(repository.lockGuestCartById, { cartId }))?.is_open ?? false

/**
 * Restored lines may have any quantity, because stock is not read while the cart is locked. The cart then
 * shows lines that can no longer be bought.
 */
const anyQuantity = () => ({ stock: null, rule: { min: 1, max: null, step: 1 } })
