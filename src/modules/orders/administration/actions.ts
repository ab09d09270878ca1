import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import type { Changes, Doer, Hand } from '../changes/service.ts'
import type { Credits } from '../credits/service.ts'
import { actionRefused, creditUnclear, orderStale } from '../errors.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import { stockLinesOf } from '../fulfilment/stock.ts'
import type { ActionName } from '../life/actions.ts'
import { count, left, type Units } from '../life/counters.ts'

type Deps = {
  db: Database
  changes: Changes
  credits: Credits
  cancellations: Pick<Cancellations, 'request'>
  fulfilment: Pick<Fulfilment, 'deliver'>
  inventory: Pick<InventoryApi, 'post'> | undefined
  payments: Pick<PaymentsApi, 'proceed'> | undefined
}
export const TRANSITIONS = ['hold', 'release', 'complete', 'reopen'] as const satisfies ActionName[]
type Transition = (typeof TRANSITIONS)[number]
type Refund = { readonly lines?: readonly Units[] | undefined; readonly amount?: number | undefined }

/** What administrators do to an order, beside what buyers do and what follows from payments. */
export function createOrderActions(deps: Deps) {
  const { db, changes, credits, cancellations, fulfilment, inventory, payments } = deps

  /** Judges it, and does it once. @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_ACTION_REFUSED` */
  const act = (
    id: string,
    action: ActionName,
    doer: Doer,
    write: Write,
    work: (tx: Transaction, hand: Hand) => Promise<unknown>
  ) =>
    write.once(db, async tx => {
      const hand = await changes.take(tx, id)
      write.expect(hand.order.version, orderStale)
      changes.judge(hand, action, doer)
      await work(tx, hand)
    })

  /** Some units are not delivered. @throws as `act`; `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT` */
  const cancelLines = (id: string, units: readonly Units[], doer: Doer, write: Write) =>
    act(id, 'cancel_lines', doer, write, async (tx, hand) => {
      const lines = count(hand.lines, 'cancel', units)
      if (lines.every(line => left.fulfil(line) + line.fulfilled === 0))
        throw actionRefused({ details: { action: 'cancel_lines', reason: 'whole_order' } })
      await changes.write(tx, hand, 'cancel_lines', doer, { lines })
      const release = { id: write.id, kind: 'release', owner: id } as const
      await inventory?.post(tx, { ...release, lines: stockLinesOf(hand, units) })
      await credits.units(tx, hand, units, { id: write.id, kind: 'cancel', doer })
    })

  return {
    /** All of it, or these units. @throws `ORDER_NOT_CANCELABLE`, and as `cancelLines` */
    cancel: async (id: string, units: readonly Units[] | undefined, doer: Doer, write: Write) => {
      if (units === undefined) return cancellations.request(id, doer, write)
      await cancelLines(id, units, doer, write)
      await payments?.proceed(id)
    },

    /** @throws as `act`; `ORDER_CREDIT_UNCLEAR`, `ORDER_CREDIT_TOO_MUCH`, `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT` */
    refund: async (id: string, { lines: units, amount }: Refund, doer: Doer, write: Write) => {
      if ((units === undefined) === (amount === undefined)) throw creditUnclear()
      const note = { id: write.id, kind: 'refund', doer } as const
      await act(id, 'refund', doer, write, async (tx, hand) => {
        const lines = units && count(hand.lines, 'refund', units)
        await changes.write(tx, hand, 'refund', doer, { ...(lines && { lines }) })
        if (units !== undefined) await credits.units(tx, hand, units, note)
        if (amount !== undefined) await credits.amount(tx, hand, amount, note)
      })
      await payments?.proceed(id)
    },

    transition: (id: string, action: Transition, doer: Doer, write: Write) =>
      act(id, action, doer, write, async (tx, hand) =>
        // What was held may have been waited for.
        fulfilment.deliver(tx, await changes.write(tx, hand, action, doer, { isHeld: action === 'hold' }))
      ),

    note: (id: string, doer: Doer, write: Write) =>
      act(id, 'note', doer, write, (tx, hand) => changes.write(tx, hand, 'note', doer))
  }
}
export type OrderActions = ReturnType<typeof createOrderActions>
