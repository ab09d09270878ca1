import type { LineCounters } from './counters.ts'
import { left } from './counters.ts'
import type { OrderState, PaymentStatus } from './status.ts'

/** Who does something to an order. Guests have proved that it is theirs; the system is the shop itself. */
export type Role = 'customer' | 'guest' | 'admin' | 'system'
/** Until when those who have ordered may cancel. */
export type CustomerCancel = 'unpaid' | 'unshipped' | 'never'

type Action = {
  readonly from: readonly OrderState[]
  /** Null: it stays what it is. */
  readonly to: OrderState | null
  readonly by: readonly Role[]
  readonly means: string
  /** Also while it is not known whether the order is canceled. */
  readonly despiteRequest?: true
  /** Also when nothing says any more whose order it was. */
  readonly whenErased?: true
}
const BUYERS = ['customer', 'guest'] as const
const LIVE = ['pending', 'placed'] as const

/** All that happens to an order: from which states, to which one, and by whom. The page about orders prints it. */
export const ACTIONS = {
  pay: { from: LIVE, to: null, by: BUYERS, means: 'A payment is begun.' },
  place: {
    from: ['pending'],
    to: 'placed',
    by: ['system'],
    means: 'Its money is held or taken, or need not be waited for.',
    despiteRequest: true
  },
  cancel: {
    from: LIVE,
    to: null,
    by: [...BUYERS, 'admin', 'system'],
    means:
      'Somebody wants it canceled, or it has expired: nothing more is taken, and what is held is let go of.'
  },
  confirm_cancel: {
    from: LIVE,
    to: 'canceled',
    by: ['system'],
    means: 'Nothing can be taken any more: stock and uses of promotions are given back.',
    despiteRequest: true
  },
  refuse_cancel: {
    from: LIVE,
    to: null,
    by: ['system'],
    means: 'It had been paid already: it goes on, or is paid back.',
    despiteRequest: true
  },
  claim: {
    from: ['pending', 'placed', 'completed', 'canceled'],
    to: null,
    by: ['guest'],
    means: 'It joins the account of whoever shows its token.',
    despiteRequest: true
  },
  cancel_lines: { from: LIVE, to: null, by: ['admin'], means: 'Some of it is not delivered.' },
  fulfil: { from: ['placed'], to: null, by: ['admin', 'system'], means: 'Some of it is on its way.' },
  return: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    means: 'Some of it has come back.',
    whenErased: true
  },
  relabel: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    means: 'A parcel has another carrier or number.'
  },
  deliver: {
    from: ['placed', 'completed'],
    to: null,
    by: ['system'],
    means: 'A parcel has arrived.',
    whenErased: true
  },
  come_back: {
    from: ['placed', 'completed'],
    to: null,
    by: ['system'],
    means: 'A parcel comes back that nobody took; an administrator says what of it is returned.',
    whenErased: true
  },
  void_event: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin'],
    means:
      'What was told of a parcel was wrong; what was completed because of it is to be looked after again.'
  },
  void_shipment: {
    from: ['placed', 'completed'],
    to: 'placed',
    by: ['admin'],
    means: 'A parcel never left: what is in it is still to be sent.'
  },
  refund: {
    from: ['placed', 'completed'],
    to: null,
    by: ['admin', 'system'],
    means: 'Some money goes back.',
    whenErased: true
  },
  complete: { from: ['placed'], to: 'completed', by: ['admin', 'system'], means: 'All is done.' },
  reopen: { from: ['completed'], to: 'placed', by: ['admin'], means: 'Something is still to be done.' },
  hold: { from: LIVE, to: null, by: ['admin'], means: 'Nothing is sent until it is released.' },
  release: { from: LIVE, to: null, by: ['admin'], means: 'It goes on.' },
  erase: {
    from: ['completed', 'canceled'],
    to: null,
    by: ['system'],
    means: 'Who has ordered it has left: nothing says any more who that was.'
  },
  note: {
    from: ['pending', 'placed', 'completed', 'canceled'],
    to: null,
    by: ['admin'],
    means: 'Something is written down, for administrators alone.',
    despiteRequest: true,
    whenErased: true
  }
} as const satisfies Record<string, Action>
export type ActionName = keyof typeof ACTIONS

/** What an order is like when something is to be done to it. */
export type Life = {
  readonly state: OrderState
  /** Null: payments are switched off. */
  readonly paymentStatus: PaymentStatus | null
  readonly lines: readonly LineCounters[]
  readonly isCancelRequested: boolean
  readonly isHeld: boolean
  /** Nothing says any more whose it was. */
  readonly isErased: boolean
}
/** Whether the order is pending or placed, and nothing cancels it. */
export const isLive = ({ state, isCancelRequested }: Pick<Life, 'state' | 'isCancelRequested'>): boolean =>
  (state === 'pending' || state === 'placed') && !isCancelRequested

/** Why something cannot be done. */
export type Refusal =
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

const WANTS_MONEY: readonly (PaymentStatus | null)[] = ['unpaid', 'partially_paid']
const HAS_NO_MONEY: readonly (PaymentStatus | null)[] = ['unpaid', null]
const isShipped = ({ lines }: Life) => lines.some(({ fulfilled }) => fulfilled > 0)
const hasLeft = ({ lines }: Life, kind: keyof typeof left) => lines.some(line => left[kind](line) > 0)

/** What beside state and role stands in the way, by action. */
const GUARDS: Partial<Record<ActionName, (life: Life) => Refusal | undefined>> = {
  pay: ({ paymentStatus }) => (WANTS_MONEY.includes(paymentStatus) ? undefined : 'paid'),
  cancel: life => (isShipped(life) ? 'shipped' : undefined),
  confirm_cancel: life => (life.isCancelRequested ? undefined : 'not_requested'),
  refuse_cancel: life => (life.isCancelRequested ? undefined : 'not_requested'),
  cancel_lines: life => (hasLeft(life, 'cancel') ? undefined : 'nothing_left'),
  fulfil: life => (life.isHeld ? 'held' : hasLeft(life, 'fulfil') ? undefined : 'nothing_left'),
  relabel: life => (isShipped(life) ? undefined : 'not_shipped'),
  void_event: life => (isShipped(life) ? undefined : 'not_shipped'),
  void_shipment: life => (isShipped(life) ? undefined : 'not_shipped'),
  return: life => (hasLeft(life, 'return') ? undefined : 'nothing_left'),
  complete: life => (life.isHeld ? 'held' : hasLeft(life, 'fulfil') ? 'not_shipped' : undefined),
  hold: life => (life.isHeld ? 'held' : undefined),
  release: life => (life.isHeld ? undefined : 'not_held')
}

/** Why this one may not do this to it now; `undefined`: they may. */
export function refusalOf(
  name: ActionName,
  life: Life,
  role: Role,
  policy: CustomerCancel
): Refusal | undefined {
  const { from, by, despiteRequest, whenErased }: Action = ACTIONS[name]
  if (!by.includes(role)) return 'role'
  if (!from.includes(life.state)) return 'state'
  if (life.isErased && !whenErased) return 'erased'
  if (life.isCancelRequested && !despiteRequest) return 'cancel_requested'
  const refusal = GUARDS[name]?.(life)
  const isBuyer = role === 'customer' || role === 'guest'
  return refusal ?? (name === 'cancel' && isBuyer ? refusedByPolicy(life, policy) : undefined)
}

function refusedByPolicy({ paymentStatus }: Life, policy: CustomerCancel): Refusal | undefined {
  if (policy === 'never') return 'policy'
  return policy === 'unpaid' && !HAS_NO_MONEY.includes(paymentStatus) ? 'paid' : undefined
}

/** What this one may do to it now. */
export const nextActions = (life: Life, role: Role, policy: CustomerCancel): ActionName[] =>
  (Object.keys(ACTIONS) as ActionName[]).filter(name => refusalOf(name, life, role, policy) === undefined)

/** The state that an action leads to. */
export const stateAfter = (name: ActionName, state: OrderState): OrderState => ACTIONS[name].to ?? state
