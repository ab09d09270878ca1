import type { OrderLineCounters } from './counters.ts'
import { remainingOrderLineUnitsByAction } from './counters.ts'
import type { OrderLifecycleState, OrderPaymentStatus } from './status.ts'

/** Who acts on an order. A guest has proved access with the order's token; the system is the shop itself. */
export type OrderActorRole = 'customer' | 'guest' | 'admin' | 'system'
/** Until when buyers can cancel an order themselves. */
export type CustomerCancellationPolicy = 'unpaid' | 'unshipped' | 'never'

type Action = {
  readonly from: readonly OrderLifecycleState[]
  /** The state after the action. Null: the state does not change. */
  readonly to: OrderLifecycleState | null
  readonly by: readonly OrderActorRole[]
  readonly description: string
  /** Whether the action is allowed while a cancellation is pending. */
  readonly despiteRequest?: true
  /** Whether the action is allowed after the buyer's personal data was erased. */
  readonly whenErased?: true
}
const BUYERS = ['customer', 'guest'] as const
const LIVE = ['pending', 'placed'] as const

/**
 * All actions on orders: the states they start from, the state they lead to, and who may take them.
 * `docs/order-lifecycle.md` prints this table.
 */
export const ORDER_ACTIONS = {
  pay: { from: LIVE, to: null, by: BUYERS, description: 'A payment is started.' },
  place: {
    from: ['pending'],
    to: 'placed',
    by: ['system'],
    description: 'It is authorized or paid, or is paid later.',
    despiteRequest: true
  },
  cancel: {
    from: LIVE,
    to: null,
    by: [...BUYERS, 'admin', 'system'],
    description:
      'Cancellation is requested, or the order expired: nothing more is captured, and authorizations are voided.'
  },
  confirm_cancel: {
    from: LIVE,
    to: 'canceled',
    by: ['system'],
    description: 'Nothing can be captured any more: stock and uses of promotions are released.',
    despiteRequest: true
  },
  refuse_cancel: {
    from: LIVE,
    to: null,
    by: ['system'],
    description: 'It was paid before it could expire: the cancellation is rejected.',
    despiteRequest: true
  },
  claim: {
    from: ['pending', 'placed', 'completed', 'canceled'],
    to: null,
    by: ['guest'],
    description: 'A guest order joins the account of a customer who has its token.',
    despiteRequest: true
  },
  cancel_lines: { from: LIVE, to: null, by: ['admin'], description: 'Some units are canceled.' },
  fulfil: {
    from: ['placed'],
    to: null,
    by: ['admin', 'system'],
    description: 'Some units are shipped or delivered.'
  },
  return: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    description: 'Some units are returned.',
    whenErased: true
  },
  relabel: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    description: 'The carrier or the tracking number of a shipment is corrected.'
  },
  deliver: {
    from: ['placed', 'completed'],
    to: null,
    by: ['system'],
    description: 'A shipment is delivered.',
    whenErased: true
  },
  come_back: {
    from: ['placed', 'completed'],
    to: null,
    by: ['system'],
    description: 'An undelivered shipment comes back. An administrator records which units are returned.',
    whenErased: true
  },
  void_event: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    description: 'A wrong tracking event is voided. An order that it completed is reopened.'
  },
  void_shipment: {
    from: ['placed', 'completed'],
    to: 'placed',
    by: ['admin'],
    description: 'A shipment is voided because it was recorded by mistake: its units are still to be shipped.'
  },
  refund: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin', 'system'],
    description: 'Money is refunded.',
    whenErased: true
  },
  complete: {
    from: ['placed'],
    to: 'completed',
    by: ['admin', 'system'],
    description: 'Nothing is left to do.'
  },
  reopen: { from: ['completed'], to: 'placed', by: ['admin'], description: 'There is more to do.' },
  hold: { from: LIVE, to: null, by: ['admin'], description: 'Nothing is shipped until it is released.' },
  release: { from: LIVE, to: null, by: ['admin'], description: 'Shipping resumes.' },
  erase: {
    from: ['completed', 'canceled'],
    to: null,
    by: ['system'],
    description: 'The personal data of the buyer is erased.'
  },
  note: {
    from: ['pending', 'placed', 'completed', 'canceled'],
    to: null,
    by: ['admin'],
    description: 'A note for administrators is added.',
    despiteRequest: true,
    whenErased: true
  }
} as const satisfies Record<string, Action>
export type OrderActionName = keyof typeof ORDER_ACTIONS

/** What decides which actions an order allows. */
export type OrderLifecycleFacts = {
  readonly state: OrderLifecycleState
  /** The payment status. Null when payments are disabled. */
  readonly paymentStatus: OrderPaymentStatus | null
  readonly lines: readonly OrderLineCounters[]
  readonly isCancelRequested: boolean
  readonly isHeld: boolean
  /** The buyer's personal data was erased. */
  readonly isErased: boolean
}
/** Whether the order is pending or placed, and no cancellation is under way. */
export const isActiveOrder = ({
  state,
  isCancelRequested
}: Pick<OrderLifecycleFacts, 'state' | 'isCancelRequested'>): boolean =>
  (state === 'pending' || state === 'placed') && !isCancelRequested

/** Why an action is refused. */
export type OrderActionRefusalReason =
  | 'role'
  | 'state'
  | 'erased'
  | 'cancel_requested'
  | 'not_requested'
  | 'held'
  | 'not_held'
  | 'policy'
  | 'paid'
  | 'shipped'
  | 'nothing_left'
  | 'not_shipped'

const UNPAID_STATUSES: readonly (OrderPaymentStatus | null)[] = ['unpaid', 'partially_paid']
const STATUSES_WITHOUT_PAYMENT: readonly (OrderPaymentStatus | null)[] = ['unpaid', null]
const isShipped = ({ lines }: OrderLifecycleFacts) => lines.some(({ fulfilled }) => fulfilled > 0)
const hasLeft = ({ lines }: OrderLifecycleFacts, kind: keyof typeof remainingOrderLineUnitsByAction) =>
  lines.some(line => remainingOrderLineUnitsByAction[kind](line) > 0)

/** Further conditions of each action, in addition to state and role. Each returns the reason of a refusal. */
const GUARDS: Partial<
  Record<OrderActionName, (lifecycle: OrderLifecycleFacts) => OrderActionRefusalReason | undefined>
> = {
  pay: ({ paymentStatus }) => (UNPAID_STATUSES.includes(paymentStatus) ? undefined : 'paid'),
  cancel: lifecycle => (isShipped(lifecycle) ? 'shipped' : undefined),
  confirm_cancel: lifecycle => (lifecycle.isCancelRequested ? undefined : 'not_requested'),
  refuse_cancel: lifecycle => (lifecycle.isCancelRequested ? undefined : 'not_requested'),
  cancel_lines: lifecycle => (hasLeft(lifecycle, 'cancel') ? undefined : 'nothing_left'),
  fulfil: lifecycle =>
    lifecycle.isHeld ? 'held' : hasLeft(lifecycle, 'fulfil') ? undefined : 'nothing_left',
  relabel: lifecycle => (isShipped(lifecycle) ? undefined : 'not_shipped'),
  void_event: lifecycle => (isShipped(lifecycle) ? undefined : 'not_shipped'),
  void_shipment: lifecycle => (isShipped(lifecycle) ? undefined : 'not_shipped'),
  return: lifecycle => (hasLeft(lifecycle, 'return') ? undefined : 'nothing_left'),
  complete: lifecycle =>
    lifecycle.isHeld ? 'held' : hasLeft(lifecycle, 'fulfil') ? 'not_shipped' : undefined,
  hold: lifecycle => (lifecycle.isHeld ? 'held' : undefined),
  release: lifecycle => (lifecycle.isHeld ? undefined : 'not_held')
}

/** Returns why the role cannot take this action now, or `undefined` when it can. */
export function findOrderActionRefusalReason(
  name: OrderActionName,
  lifecycle: OrderLifecycleFacts,
  role: OrderActorRole,
  policy: CustomerCancellationPolicy
): OrderActionRefusalReason | undefined {
  const { from, by, despiteRequest, whenErased }: Action = ORDER_ACTIONS[name]
  if (!by.includes(role)) return 'role'
  if (!from.includes(lifecycle.state)) return 'state'
  if (lifecycle.isErased && !whenErased) return 'erased'
  if (lifecycle.isCancelRequested && !despiteRequest) return 'cancel_requested'
  const refusal = GUARDS[name]?.(lifecycle)
  const isBuyer = role === 'customer' || role === 'guest'
  return refusal ?? (name === 'cancel' && isBuyer ? refusedByPolicy(lifecycle, policy) : undefined)
}

function refusedByPolicy(
  { paymentStatus }: OrderLifecycleFacts,
  policy: CustomerCancellationPolicy
): OrderActionRefusalReason | undefined {
  if (policy === 'never') return 'policy'
  return policy === 'unpaid' && !STATUSES_WITHOUT_PAYMENT.includes(paymentStatus) ? 'paid' : undefined
}

/** The actions that the role can take now. */
export const allowedOrderActions = (
  lifecycle: OrderLifecycleFacts,
  role: OrderActorRole,
  policy: CustomerCancellationPolicy
): OrderActionName[] =>
  (Object.keys(ORDER_ACTIONS) as OrderActionName[]).filter(
    name => findOrderActionRefusalReason(name, lifecycle, role, policy) === undefined
  )

/** The state that an action leads to. */
export const orderStateAfter = (name: OrderActionName, state: OrderLifecycleState): OrderLifecycleState =>
  ORDER_ACTIONS[name].to ?? state
