import { compileSchema } from '../../../kernel/compile-schema.ts'
import { DomainError, found } from '../../../kernel/errors.ts'
import { fieldFaults } from '../../../kernel/faults.ts'
import { listOf } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import { createMetadataCommand } from '../../../platform/metadata-command.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AdminOrderActions } from '../administration/actions.ts'
import { PlaceOrderInput } from '../checkouts/place-order.ts'
import { findCheckoutOfAnyBuyer } from '../checkouts/repository.ts'
import type { CheckoutService } from '../checkouts/service.ts'
import {
  orderNotFoundError,
  orderRequestInvalidError,
  orderWriteRepeatedConcurrentlyError
} from '../errors.ts'
import { findOrderMetadata, findOrderOwner } from '../orders/repository.ts'
import { OrderResponse, OrderSummaryResponse } from '../orders/schema.ts'
import type { OrderService, PlacedOrderWithToken } from '../orders/service.ts'
import type { CheckoutCommands, OrderCommands } from './contract.ts'
import { keepDeclaredFields } from './declared-fields.ts'

type Deps = {
  db: Database
  checkouts: CheckoutService
  orders: OrderService
  updateMetadata: AdminOrderActions['updateMetadata']
}

/**
 * Creates the commands for other modules. They do what the gateway does before it calls the same services.
 * They validate the request, and find what an earlier attempt of the write has created.
 */
export function createOrderAndCheckoutCommands({ db, checkouts, orders, updateMetadata }: Deps): {
  checkouts: CheckoutCommands
  orders: OrderCommands
} {
  const findCheckout = (id: string) => db.first(findCheckoutOfAnyBuyer, { id })
  const findOrder = (id: string) => db.first(findOrderOwner, { id })

  return {
    checkouts: {
      begin: async (buyer, request, write) =>
        onceById(write, findCheckout, attempt => checkouts.begin(buyer, validated(request), attempt)),
      update: async (buyer, id, request, write) => checkouts.update(buyer, id, validated(request), write),
      read: checkouts.read,
      cancel: checkouts.cancel,
      complete: async (buyer, id, request, write) =>
        onceById(write, findOrder, async attempt =>
          shown(await orders.complete(buyer, id, validated(request), attempt))
        )
    },
    orders: {
      place: async (buyer, request, write) =>
        onceById(write, findOrder, async attempt =>
          shown(await orders.place(buyer, validated(request), attempt))
        ),
      read: async (buyer, id) => keepDeclaredFields(OrderResponse, await orders.read(buyer, id)),
      list: async (buyer, query) => keepDeclaredFields(OrderPage, await orders.list(buyer, query)),
      updateMetadata: createMetadataCommand(async (id, change, write) => {
        await updateMetadata(id, change, write)
        return found(await db.first(findOrderMetadata, { id }), orderNotFoundError)
      })
    }
  }
}

const OrderPage = listOf(OrderSummaryResponse)
const shown = (placed: PlacedOrderWithToken): PlacedOrderWithToken => ({
  ...placed,
  order: keepDeclaredFields(OrderResponse, placed.order)
})

const errorsOf = compileSchema(PlaceOrderInput)

/** @throws `ORDER_REQUEST_INVALID` */
function validated<R extends PlaceOrderInput>(request: R): R {
  const errors = errorsOf(request)
  if (errors.length > 0) throw orderRequestInvalidError({ details: { errors: fieldFaults('body', errors) } })
  return request
}

/**
 * Calls `work`, with a write that counts as applied when an earlier attempt has created what has the id of the write.
 * That attempt may commit while this one runs: then the insert violates the primary key, and `work` runs again.
 */
async function onceById<T>(
  write: IdempotentWrite,
  find: (id: string) => Promise<unknown>,
  work: (attempt: IdempotentWrite) => Promise<T>
): Promise<T> {
  const applied = { ...write, alreadyApplied: true }
  const isRepeated = !write.alreadyApplied && (await find(write.id)) !== undefined
  try {
    return await work(isRepeated ? applied : write)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== orderWriteRepeatedConcurrentlyError.code)
      throw error
    return work(applied)
  }
}
