import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { type MetadataRequest, metadataChangesOf } from '../../../platform/postgres/metadata.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { CancellationService } from '../cancellation/service.ts'
import { creditInputAmbiguous, orderActionRefused, orderNotFound, orderStale } from '../errors.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { stockLinesOfUnits } from '../fulfilment/unit-groups.ts'
import type { OrderActionName } from '../lifecycle/actions.ts'
import { addToLineCounters, type OrderLineUnits, remainingLineUnits } from '../lifecycle/counters.ts'
import { lockOrder } from '../lifecycle/repository.ts'
import type { OrderActor, OrderTransitions, OrderUnderLock } from '../lifecycle/service.ts'
import { updateOrderMetadata } from './repository.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  adjustments: OrderAdjustmentService
  cancellations: Pick<CancellationService, 'request'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  inventory: Pick<InventoryApi, 'post'> | undefined
  payments: Pick<PaymentsApi, 'sendOperations'> | undefined
}
export const ADMIN_ORDER_TRANSITIONS = [
  'hold',
  'release',
  'complete',
  'reopen'
] as const satisfies OrderActionName[]
type Transition = (typeof ADMIN_ORDER_TRANSITIONS)[number]
type Refund = { readonly lines?: readonly OrderLineUnits[] | undefined; readonly amount?: number | undefined }

/** Actions of administrators on orders. */
export function createAdminOrderActions(deps: Deps) {
  const { db, changes, adjustments, cancellations, fulfilment, inventory, payments } = deps

  /**
   * Locks the order, asserts that the action is allowed and runs `work`, once per request. @throws
   * `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_ACTION_REFUSED`
   */
  const runAction = (
    id: string,
    action: OrderActionName,
    actor: OrderActor,
    write: IdempotentWrite,
    work: (tx: Transaction, locked: OrderUnderLock) => Promise<unknown>
  ) =>
    write.once(db, async tx => {
      const locked = await changes.lock(tx, id)
      write.expect(locked.order.version, orderStale)
      changes.assertAllowed(locked, action, actor)
      await work(tx, locked)
    })

  /**
   * Cancels and credits units that are not shipped. @throws as `runAction`; `ORDER_LINE_UNKNOWN`,
   * `ORDER_UNITS_SHORT`
   */
  const cancelLines = (
    id: string,
    units: readonly OrderLineUnits[],
    actor: OrderActor,
    write: IdempotentWrite
  ) =>
    runAction(id, 'cancel_lines', actor, write, async (tx, locked) => {
      const lines = addToLineCounters(locked.lines, 'cancel', units)
      if (lines.every(line => remainingLineUnits.fulfil(line) + line.fulfilled === 0))
        throw orderActionRefused({ details: { action: 'cancel_lines', reason: 'whole_order' } })
      await changes.transition(tx, locked, 'cancel_lines', actor, { lines })
      const release = { id: write.id, kind: 'release', owner: id } as const
      await inventory?.post(tx, { ...release, lines: stockLinesOfUnits(locked, units) })
      await adjustments.creditUnits(tx, locked, units, { id: write.id, kind: 'cancel', actor })
    })

  return {
    /** Cancels the whole order, or these units. @throws `ORDER_NOT_CANCELABLE`, and as `cancelLines` */
    cancel: async (
      id: string,
      units: readonly OrderLineUnits[] | undefined,
      actor: OrderActor,
      write: IdempotentWrite
    ) => {
      if (units === undefined) return cancellations.request(id, actor, write)
      await cancelLines(id, units, actor, write)
      await payments?.sendOperations(id)
    },

    /**
     * @throws as `runAction`; `ORDER_CREDIT_UNCLEAR`, `ORDER_CREDIT_TOO_MUCH`, `ORDER_LINE_UNKNOWN`,
     * `ORDER_UNITS_SHORT`
     */
    refund: async (
      id: string,
      { lines: units, amount }: Refund,
      actor: OrderActor,
      write: IdempotentWrite
    ) => {
      if ((units === undefined) === (amount === undefined)) throw creditInputAmbiguous()
      const note = { id: write.id, kind: 'refund', actor } as const
      await runAction(id, 'refund', actor, write, async (tx, locked) => {
        const lines = units && addToLineCounters(locked.lines, 'refund', units)
        await changes.transition(tx, locked, 'refund', actor, { ...(lines && { lines }) })
        if (units !== undefined) await adjustments.creditUnits(tx, locked, units, note)
        if (amount !== undefined) await adjustments.creditAmount(tx, locked, amount, note)
      })
      await payments?.sendOperations(id)
    },

    transition: (id: string, action: Transition, actor: OrderActor, write: IdempotentWrite) =>
      runAction(id, action, actor, write, async (tx, locked) =>
        // Digital units of a held order may be due after its release.
        fulfilment.deliverDigital(
          tx,
          await changes.transition(tx, locked, action, actor, { isHeld: action === 'hold' })
        )
      ),

    /** Changes the metadata in any state, and no other column. @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `METADATA_LIMIT` */
    updateMetadata: (id: string, body: MetadataRequest, write: IdempotentWrite) =>
      write.once(db, async tx => {
        const order = found(await tx.first(lockOrder, { id }), orderNotFound)
        write.expect(order.version, orderStale)
        const changes = metadataChangesOf(body)
        if (changes !== undefined) await tx.run(updateOrderMetadata, { id, ...changes })
      }),

    note: (id: string, actor: OrderActor, write: IdempotentWrite) =>
      runAction(id, 'note', actor, write, (tx, locked) => changes.transition(tx, locked, 'note', actor))
  }
}
export type AdminOrderActions = ReturnType<typeof createAdminOrderActions>
