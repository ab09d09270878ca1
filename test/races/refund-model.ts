import { DomainError } from '../../src/kernel/errors.ts'
import { provide } from '../../src/kernel/ports.ts'
import * as adjustmentRows from '../../src/modules/orders/adjustments/repository.ts'
import {
  createOrderAdjustmentService,
  type OrderAdjustmentService
} from '../../src/modules/orders/adjustments/service.ts'
import { createAdminOrderActions } from '../../src/modules/orders/administration/actions.ts'
import { createCancellationService } from '../../src/modules/orders/cancellation/service.ts'
import { createPlacerOfPendingOrders } from '../../src/modules/orders/fulfilment/place-pending-order.ts'
import {
  addToOrderLineCounters,
  remainingOrderLineUnitsByAction
} from '../../src/modules/orders/lifecycle/counters.ts'
import * as orderRows from '../../src/modules/orders/lifecycle/repository.ts'
import { createOrderTransitions, SYSTEM_ACTOR } from '../../src/modules/orders/lifecycle/service.ts'
import { createPaymentChangeApplier } from '../../src/modules/orders/payments/apply-change.ts'
import { createPaymentChangeListener } from '../../src/modules/orders/payments/listener.ts'
import { createOrderCancellationCompletion } from '../../src/modules/orders/payments/settle-cancellation.ts'
import { createOrderRefunds } from '../../src/modules/orders/refunds/service.ts'
import { type TenderProvider, type TenderRefund, tenderPort } from '../../src/modules/orders/tenders/port.ts'
import * as tenderRows from '../../src/modules/orders/tenders/repository.ts'
import { createOrderTenders } from '../../src/modules/orders/tenders/service.ts'
import { fakePayments } from '../../src/modules/payments/fake.ts'
import { orderPaymentHooksPort, orderPaymentsOfApi } from '../../src/modules/payments/index.ts'
import type { IdempotentWrite } from '../../src/platform/idempotency/write.ts'
import type { Database, Transaction } from '../../src/platform/postgres/database.ts'
import { portsOf } from '../support/ports.ts'

type ModelLine = { readonly quantity: number; readonly unitMinor: number }
export type ModelOrder = {
  readonly lines: readonly ModelLine[]
  readonly deliveryMinor: number
  readonly roundingMinor: number
  /** What each tender can cover, in the order in which the buyer names them. */
  readonly tendersMinor?: readonly number[]
}
export type RefundStep =
  | { do: 'pay' | 'capture late'; share: number }
  | { do: 'authorize' | 'ship' | 'cancel' | 'expire' | 'lose responses' | 'report refunds' | 'respond' }
  | { do: 'cancel line' | 'refund line'; line: number }
  | { do: 'refund amount'; share: number }

const ID = '01981d5e-0000-7000-8000-000000000001'
const ADMIN = { role: 'admin', id: null, reason: null } as const
const TIMEOUTS = { usual: 1_800, transfer: 86_400, transferOfVerified: 604_800 }
const TAX_PPM = 250_000

/** The rows of one order. A transaction that fails leaves them as they were. */
type Rows = {
  order: orderRows.LockedOrderRow
  lines: {
    line: number
    ordered: number
    canceled: number
    fulfilled: number
    returned: number
    refunded: number
  }[]
  adjustments: { id: string; amount: number; back: number }[]
  parts: { line: number | null; group_key: string | null; amount: number }[]
  tenders: { id: string; type: string; amount: number; refunded: number }[]
  /** The ledger of the provider: the balance of each tender, by its id, and the ids of its refunds. */
  balances: Record<string, number>
  tenderRefunds: string[]
}

const totalOf = ({ lines, deliveryMinor, roundingMinor }: ModelOrder) =>
  lines.reduce((sum, { quantity, unitMinor }) => sum + quantity * unitMinor, 0) +
  deliveryMinor +
  roundingMinor

/** A result of `refundModelOf` that breaks a promise. */
export class BrokenPromise extends Error {}

/**
 * Runs the services of orders on rows in memory, with the fake of payments. Only SQL, stock, carts and promotions are left out.
 * `change` replaces steps, so that a test can plant a fault.
 */
export async function refundModelOf(
  model: ModelOrder,
  change: (service: OrderAdjustmentService) => Partial<OrderAdjustmentService> = () => ({})
) {
  const total = totalOf(model)
  let rows = rowsOf(model, total)
  let writes = 0
  const statements = new Map<object, (values: never) => unknown>()
  const handle = <V>(statement: object, handler: (values: V) => unknown) => statements.set(statement, handler)
  const changeOrder = (columns: Partial<Rows['order']>) => {
    rows.order = { ...rows.order, ...columns, version: rows.order.version + 1 }
    return rows.order
  }
  handle(orderRows.lockOrder, () => ({ ...rows.order }))
  handle(orderRows.listOrderLines, () =>
    rows.lines.map(line => ({ ...line, group_key: 'goods', variant_id: ID, requires_shipping: true }))
  )
  handle(
    orderRows.updateOrderState.statement,
    ({ state, cancel_requested_by, terms, payment_status }: Rows['order']) =>
      changeOrder({
        state,
        cancel_requested_by,
        terms,
        payment_status: payment_status ?? rows.order.payment_status
      })
  )
  handle(orderRows.updateOrderPaymentStatus.statement, ({ payment_status }: Rows['order']) =>
    changeOrder({ payment_status })
  )
  handle(orderRows.updateLineCounters, (columns: Record<string, number[]>) => {
    rows.lines = rows.lines.map((line, at) => ({
      ...line,
      canceled: columns.canceled?.[at] ?? 0,
      fulfilled: columns.fulfilled?.[at] ?? 0,
      returned: columns.returned?.[at] ?? 0,
      refunded: columns.refunded?.[at] ?? 0
    }))
  })
  handle(orderRows.insertOrderHistory, () => 1)
  handle(adjustmentRows.listOrderPriceParts, () => pricePartsOf(model))
  handle(adjustmentRows.listCreditedOrderPriceParts, () => rows.parts)
  handle(adjustmentRows.insertOrderAdjustment, ({ id, amount, back }: Rows['adjustments'][number]) => {
    if (rows.adjustments.some(each => each.id === id)) return 0
    rows.adjustments.push({ id, amount, back })
    return 1
  })
  handle(
    adjustmentRows.insertOrderAdjustmentParts,
    ({ parts }: { parts: { line?: number; group?: string; amountMinor: number }[] }) => {
      for (const { line = null, group = null, amountMinor } of parts)
        rows.parts.push({ line, group_key: group, amount: amountMinor })
    }
  )
  handle(tenderRows.listTenders, () => structuredClone(rows.tenders))
  handle(tenderRows.addTenderRefunds, ({ ids, amounts }: { ids: string[]; amounts: number[] }) => {
    for (const tender of rows.tenders) tender.refunded += amounts[ids.indexOf(tender.id)] ?? 0
  })
  handle(adjustmentRows.sumOrderAdjustments, ({ id }: { id: string }) => ({
    credited: rows.adjustments.reduce((sum, { amount }) => sum + amount, 0),
    refunded: rows.adjustments.reduce((sum, { back }) => sum + back, 0),
    exists: rows.adjustments.some(each => each.id === id)
  }))

  const answer = async (statement: object, values: unknown) => {
    const handler = statements.get(statement)
    if (handler === undefined) throw new Error(`the model has no rows for ${JSON.stringify(statement)}`)
    return handler(values as never)
  }
  const db = {
    transaction: async <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
      const before = structuredClone(rows)
      const commits: (() => void)[] = []
      const tx = {
        first: answer,
        rows: answer,
        run: answer,
        afterCommit: (each: () => void) => commits.push(each)
      }
      try {
        const result = await work(tx as unknown as Transaction)
        for (const each of commits) each()
        return result
      } catch (error) {
        rows = before
        throw error
      }
    }
  } as Database

  const fake = fakePayments(() => db)
  const payments = orderPaymentsOfApi(fake)
  const emit = () => {}
  const unpaidStock = { sync: async () => {} }
  const pricing = { release: async () => {}, countPaidRedemptions: async () => {} }
  const fulfilment = { deliverDigital: async (_tx: Transaction, locked: never) => locked }
  const changes = createOrderTransitions({ payments, shipping: undefined, unpaidStock, policy: 'unshipped' })
  const cards = {
    refund: async (_tx: Transaction, refunds: readonly TenderRefund[]) => {
      for (const { id, tenderId, amountMinor } of refunds) {
        if (rows.tenderRefunds.includes(id)) continue
        rows.tenderRefunds.push(id)
        rows.balances[tenderId] = (rows.balances[tenderId] ?? 0) + amountMinor
      }
    }
  } as TenderProvider
  const tenders = createOrderTenders({ db, ports: portsOf(provide(tenderPort, 'card', cards)) })
  const real = createOrderAdjustmentService({ emit, tenders })
  const adjustments = { ...real, ...change(real) }
  const settlement = createOrderCancellationCompletion({
    changes,
    emit,
    pricing: pricing as never,
    inventory: undefined,
    cart: undefined
  })
  const applyPaymentChange = createPaymentChangeApplier({
    settleCancellation: settlement.settle,
    adjustments,
    fulfilment: fulfilment as never,
    evictions: { confirm: async () => [], take: async () => {} },
    placePendingOrder: createPlacerOfPendingOrders({ changes, fulfilment: fulfilment as never, emit }),
    pricing: pricing as never,
    unpaidStock,
    tenders,
    paymentTimeouts: TIMEOUTS
  })
  const refunds = createOrderRefunds({ db, changes, adjustments, applyPaymentChange, payments })
  const cancellations = createCancellationService({
    db,
    changes,
    settlement,
    adjustments,
    applyPaymentChange,
    payments
  })
  const actions = createAdminOrderActions({
    db,
    changes,
    adjustments,
    refunds,
    cancellations,
    fulfilment: fulfilment as never,
    inventory: undefined,
    payments
  })
  fake.setPorts(
    portsOf(
      provide(orderPaymentHooksPort, 'orders', {
        onChange: createPaymentChangeListener({ changes, applyPaymentChange })
      })
    )
  )
  await db.transaction(tx =>
    payments.openAccountOfOrder(tx, {
      orderId: ID,
      reference: 'A-1',
      customerId: null,
      currency: 'EUR',
      dueMinor: total - rows.order.tendered,
      tokenVersion: 1
    })
  )

  const writeOf = () => {
    writes += 1
    const id = `${ID.slice(0, -4)}${String(writes + 1_000)}`
    return {
      id,
      once: (at: Database, work: never) => at.transaction(work),
      expect: () => {}
    } as unknown as IdempotentWrite
  }
  const account = () => fake.findAccount(db, ID)

  async function ship(): Promise<void> {
    await db.transaction(async tx => {
      const locked = await changes.lock(tx, ID)
      changes.assertAllowed(locked, 'fulfil', ADMIN)
      const units = locked.lines.map(line => ({
        line: line.line,
        quantity: remainingOrderLineUnitsByAction.fulfil(line)
      }))
      await changes.transition(tx, locked, 'fulfil', ADMIN, {
        lines: addToOrderLineCounters(locked.lines, 'fulfil', units)
      })
      const { authorized = 0, due = 0, captured = 0 } = locked.account?.state() ?? {}
      const amountMinor = Math.min(authorized, due - captured)
      if (amountMinor > 0) await locked.account?.capture({ id: writeOf().id, amountMinor, actor: null })
    })
    await fake.sendOperations(ID)
  }
  const expire = async () => {
    await db.transaction(async tx => {
      const locked = await changes.lock(tx, ID)
      if (locked.lifecycle.state !== 'pending' || locked.lifecycle.isCancelRequested) return
      await cancellations.begin(tx, locked, SYSTEM_ACTOR)
    })
    await fake.sendOperations(ID)
  }
  const captureLate = async (amount: number) => {
    writes += 1
    const fact = { kind: 'capture', status: 'succeeded', amount, objectId: `late ${writes}` } as const
    await fake.reportFacts(ID, fact)
  }
  /** Returns a share of an amount, at least 1. */
  const shareOf = (share: number, amount: number) => Math.max(1, Math.floor(share * amount))

  async function take(step: RefundStep): Promise<void> {
    switch (step.do) {
      case 'pay': {
        const { due, committed, authorized } = await account()
        // Providers release the rest of an authorization with its capture, which only a shipment requests here.
        if (authorized > 0) return
        return fake.pay(ID, step.share === 1 ? undefined : shareOf(step.share, Math.max(due - committed, 1)))
      }
      case 'capture late':
        if ((await account()).authorized > 0 || (await account()).committed === 0) return
        return captureLate(shareOf(step.share, total))
      case 'authorize':
        return fake.authorize(ID)
      case 'ship':
        return ship()
      case 'expire':
        return expire()
      case 'cancel':
        return void (await actions.cancel(ID, undefined, ADMIN, writeOf()))
      case 'cancel line':
        return void (await actions.cancel(ID, [{ line: step.line, quantity: 1 }], ADMIN, writeOf()))
      case 'refund line':
        return actions.refund(ID, { lines: [{ line: step.line, quantity: 1 }] }, ADMIN, writeOf())
      case 'refund amount':
        return actions.refund(ID, { amount: shareOf(step.share, total) }, ADMIN, writeOf())
      case 'lose responses':
        return fake.setSilent(true)
      case 'report refunds':
        return fake.reportRefunds(ID)
      case 'respond':
        fake.setSilent(false)
        return fake.sendOperations(ID)
    }
  }

  const keep = (isKept: boolean, promise: string, state: object) => {
    if (!isKept) throw new BrokenPromise(`${promise}: ${JSON.stringify({ ...state, rows })}`)
  }
  async function checkAlways(): Promise<void> {
    const { due, captured, refunded } = await account()
    keep(due >= 0, 'the amount due is never negative', { due })
    keep(refunded <= captured, 'no more is refunded than was paid', { captured, refunded })
    for (const { id, amount, refunded } of rows.tenders) {
      keep(refunded >= 0 && refunded <= amount, 'no tender gets more back than it gave', { amount, refunded })
      keep(rows.balances[id] === refunded, 'the ledger has what the order gave back', { amount, refunded })
    }
  }

  return {
    total,
    /** What tenders gave, and what they got back. */
    tenders: () => ({
      tendered: rows.order.tendered,
      returned: rows.tenders.reduce((sum, { refunded }) => sum + refunded, 0)
    }),
    /** Runs a step. Returns the code of the error by which the shop rejects it. */
    take: async (step: RefundStep): Promise<string | undefined> => {
      const rejected = await take(step).then(
        () => undefined,
        error => {
          if (error instanceof DomainError) return error.code
          throw error
        }
      )
      await checkAlways()
      return rejected
    },
    /** Waits for all responses and compares the money with the price. Returns how the order ended. */
    settle: async (): Promise<'canceled' | 'paid' | 'unpaid'> => {
      await take({ do: 'respond' })
      await checkAlways()
      const { captured, refunded, refunding, due } = await account()
      const heldByTendersMinor = rows.tenders.reduce((sum, each) => sum + each.amount - each.refunded, 0)
      const heldMinor = captured - refunded + heldByTendersMinor
      const worthMinor = total - rows.adjustments.reduce((sum, { amount }) => sum + amount, 0)
      const state = { captured, refunded, refunding, due, total, worthMinor, state: rows.order.state }
      keep(refunding === 0, 'every refund has a result', state)
      keep(worthMinor >= 0, 'no more is credited than the order cost', state)
      if (rows.order.state === 'canceled') {
        keep(heldMinor === 0, 'all that was paid of a canceled order is refunded', state)
        return 'canceled'
      }
      // A payment beyond the price of the order is not refunded by itself: the order is flagged as overpaid.
      const doubleMinor = Math.max(0, captured + rows.order.tendered - total)
      if (captured < due) {
        keep(heldMinor <= worthMinor, 'nothing above the price of a partly paid order is kept', state)
        return 'unpaid'
      }
      keep(heldMinor === worthMinor + doubleMinor, 'what is kept of a paid order is its price', state)
      return 'paid'
    }
  }
}

/** The tenders of an order, each with what it covers of what those before it left. */
function tendersOf({ tendersMinor = [] }: ModelOrder, total: number): Rows['tenders'] {
  let rest = total
  return tendersMinor.flatMap((available, at) => {
    const amount = Math.min(available, rest)
    rest -= amount
    return amount === 0 ? [] : [{ id: `tender ${at}`, type: 'card', amount, refunded: 0 }]
  })
}

function rowsOf({ lines, ...model }: ModelOrder, total: number): Rows {
  const tenders = tendersOf({ lines, ...model }, total)
  const tendered = tenders.reduce((sum, { amount }) => sum + amount, 0)
  const isCovered = tendered > 0 && tendered === total
  return {
    order: {
      id: ID,
      number: 'A-1',
      state: isCovered ? 'placed' : 'pending',
      terms: 'prepaid',
      customer_id: null,
      mailbox: null,
      token_version: 1,
      cart_id: null,
      currency: 'EUR',
      total,
      tendered,
      payment_status: total === tendered ? 'paid' : 'unpaid',
      cancel_requested_by: null,
      held_at: null,
      erased_at: null,
      is_deferred: false,
      is_buyer_verified: false,
      canceled_for: null,
      version: 1,
      has_expired: false
    },
    lines: lines.map(({ quantity }, at) => ({
      line: at + 1,
      ordered: quantity,
      canceled: 0,
      fulfilled: 0,
      returned: 0,
      refunded: 0
    })),
    adjustments: [],
    parts: [],
    tenders,
    balances: Object.fromEntries(tenders.map(({ id }) => [id, 0])),
    tenderRefunds: []
  }
}

/** A quarter is added as tax, which the prices include. */
function pricePartsOf({ lines, deliveryMinor, roundingMinor }: ModelOrder) {
  const part = (kind: string, amount: number, of: { line?: number; group_key?: string }) => {
    const tax = Math.round((amount * TAX_PPM) / (1_000_000 + TAX_PPM))
    const rate = { rate_ppm: TAX_PPM, tax_category: 'standard' }
    const row = { line: null, group_key: null, ...of }
    return [
      { ...row, kind, amount, rate_ppm: null, tax_category: null, included: false },
      { ...row, ...rate, kind: 'tax', amount: tax, included: true }
    ]
  }
  const rounding = { line: null, group_key: null, rate_ppm: null, tax_category: null, included: false }
  return [
    ...lines.flatMap(({ quantity, unitMinor }, at) => part('item', quantity * unitMinor, { line: at + 1 })),
    ...part('shipping', deliveryMinor, { group_key: 'goods' }),
    { ...rounding, kind: 'cash_rounding', amount: roundingMinor }
  ]
}
