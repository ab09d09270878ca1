import type { Transaction } from '../../../platform/postgres/database.ts'
import { type CartLimits, type Line, settingLines } from '../carts/lines.ts'
import * as carts from '../carts/repository.ts'
import { cartChanged } from '../errors.ts'
import { mergeLines, sumByVariant } from '../merge/rule.ts'
import * as repository from './repository.ts'

type Settings = CartLimits & { readonly idleSeconds: number }
/** Whose order it was, and the cart that it took; `customerId` is null for a guest. */
type CartOfOrder = { readonly customerId: string | null; readonly cartId: string }

/** The door for orders: each of these is done in their transaction, before anything of `pricing.redeem` is. */
export function createCartsOfOrders(settings: Settings) {
  /** Empties a cart that still has this version. @throws `CART_CHANGED` when it has not, or has nothing in it. */
  async function take(tx: Transaction, cartId: string, version: number): Promise<void> {
    const { idleSeconds } = settings
    const wanted = { cart_id: cartId, version, idle_seconds: idleSeconds }
    if ((await tx.first(repository.takeCart, wanted)) === undefined) throw cartChanged()
  }

  /**
   * Gives lines of an order that comes to nothing back: to the customer, or into the guest's cart while that is there. Of
   * each variant the cart has then at least as many as the order had, as far as the limits of carts allow.
   */
  async function giveBack(
    tx: Transaction,
    { customerId, cartId }: CartOfOrder,
    lines: readonly Line[]
  ): Promise<void> {
    if (customerId === null && !(await isOpenToGuest(tx, cartId))) return
    const id = customerId ?? cartId
    const present = await carts.lock(tx, id)
    const { changed } = mergeLines(present.lines, sumByVariant(lines), 'max', settings, inAnyQuantity)
    if (changed.length === 0) return
    await carts.save(tx, id, settingLines(present.lines, changed), settings.idleSeconds)
  }

  return { take, giveBack }
}
export type CartsOfOrders = ReturnType<typeof createCartsOfOrders>

/** Locks the token first, as everywhere. */
const isOpenToGuest = async (tx: Transaction, cartId: string): Promise<boolean> =>
  (await tx.first(repository.lockGuestCartById, { cartId }))?.is_open ?? false

/** What cannot be bought any more stays in a cart and says so: nothing of it is asked while the cart is held. */
const inAnyQuantity = () => ({ stock: null, rule: { min: 1, max: null, step: 1 } })
