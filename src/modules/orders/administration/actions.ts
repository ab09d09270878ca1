import { found } from '../../../kernel/errors.ts'
import { assertOnlyDeletesMetadata, type MetadataRequest } from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { OrderPayments } from '../../payments/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { CancellationService } from '../cancellation/service.ts'
import { orderActionRefusedError, orderNotFoundError, orderStaleError } from '../errors.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { stockLinesOfUnits } from '../fulfilment/unit-groups.ts'
import type { OrderActionName } from '../lifecycle/actions.ts'
import {
  addToOrderLineCounters,
  type OrderLineQuantity,
  remainingOrderLineUnitsByAction
} from '../lifecycle/counters.ts'
import type { OrderUnderLock } from '../lifecycle/locked-order.ts'
import { lockOrder } from '../lifecycle/repository.ts'
import type { OrderActor, OrderTransitions } from '../lifecycle/service.ts'
import type { OrderRefunds } from '../refunds/service.ts'
import { updateOrderMetadata } from './repository.ts'
import type { ADMIN_ORDER_TRANSITIONS } from './schema.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  adjustments: Pick<OrderAdjustmentService, 'readCreditBalance'>
  refunds: OrderRefunds
  cancellations: Pick<CancellationService, 'request'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  inventory: Pick<InventoryApi, 'post'> | undefined
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
}
type Transition = (typeof ADMIN_ORDER_TRANSITIONS)[number]

/** Actions of administrators on orders. */
export function createAdminOrderActions(deps: Deps) {
  const { db, changes, adjustments, refunds, cancellations, fulfilment, inventory, payments } = deps

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
      write.expect(locked.order.version, orderStaleError)
      changes.assertAllowed(locked, action, actor)
      await work(tx, locked)
    })

  /**
   * Cancels and credits units that are not shipped. @throws as `runAction`; `ORDER_LINE_UNKNOWN`,
   * `ORDER_UNITS_SHORT`
   */
  const cancelLines = (
    id: string,
    units: readonly OrderLineQuantity[],
    actor: OrderActor,
    write: IdempotentWrite
  ) =>
    runAction(id, 'cancel_lines', actor, write, async (tx, locked) => {
      const lines = addToOrderLineCounters(locked.lines, 'cancel', units)
      if (lines.every(line => remainingOrderLineUnitsByAction.fulfil(line) + line.fulfilled === 0))
        throw orderActionRefusedError({ details: { action: 'cancel_lines', reason: 'whole_order' } })
      const balance = await adjustments.readCreditBalance(tx, locked)
      const counted = await changes.transition(tx, locked, 'cancel_lines', actor, { lines })
      const release = { id: write.id, kind: 'release', owner: id } as const
      await inventory?.post(tx, { ...release, lines: stockLinesOfUnits(locked, units) })
      await refunds.creditUnits(tx, counted, balance, units, { id: write.id, kind: 'cancel', actor })
    })

  return {
    /** Cancels the whole order, or these units. @throws `ORDER_NOT_CANCELABLE`, and as `cancelLines` */
    cancel: async (
      id: string,
      units: readonly OrderLineQuantity[] | undefined,
      actor: OrderActor,
      write: IdempotentWrite
    ) => {
      if (units === undefined) return cancellations.request(id, actor, write)
      await cancelLines(id, units, actor, write)
      await payments?.sendOperations(id, write.withoutSlot)
    },

    refund: refunds.refundOrder,

    transition: (id: string, action: Transition, actor: OrderActor, write: IdempotentWrite) =>
      runAction(id, action, actor, write, async (tx, locked) =>
        // After the release of a held order, its digital units may be due.
        fulfilment.deliverDigital(
          tx,
          await changes.transition(tx, locked, action, actor, { isHeld: action === 'hold' })
        )
      ),

    /**
     * Changes the metadata in any state, and no other column. @throws `ORDER_NOT_FOUND`, `ORDER_STALE`,
     * `METADATA_ERASED`, `METADATA_LIMIT`
     */
    updateMetadata: (id: string, body: MetadataRequest, write: IdempotentWrite) =>
      write.once(db, async tx => {
        const order = found(await tx.first(lockOrder, { id }), orderNotFoundError)
        write.expect(order.version, orderStaleError)
        if (order.erased_at !== null) assertOnlyDeletesMetadata(body)
        await changeMetadata(tx, updateOrderMetadata, { id, ...body })
      }),

    note: (id: string, actor: OrderActor, write: IdempotentWrite) =>
      runAction(id, 'note', actor, write, (tx, locked) => changes.transition(tx, locked, 'note', actor))
  }
}
export type AdminOrderActions = ReturnType<typeof createAdminOrderActions>
