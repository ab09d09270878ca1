import { compileSchema } from '../../../kernel/compile-schema.ts'
import { fieldFaults } from '../../../kernel/faults.ts'
import { isId } from '../../../kernel/ids.ts'
import { type Static, type TSchema, Type } from '../../../kernel/schema.ts'
import { nullable } from '../../../kernel/wire.ts'
import type { PaymentFact, PaymentFactKind, PaymentFactStatus } from '../facts/fact.ts'
import type {
  PaymentProviderCallbackEvent,
  PaymentProviderEvent,
  UnreadablePaymentCallbackEvent,
  UnreadablePaymentProviderObject
} from './port.ts'

// Reads objects of Stripe and of the sandbox, which has the same shapes. Only the fields that are used are declared.

const Text = Type.String({ maxLength: 500 })
const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Money = { id: Text, amount: Amount, currency: Type.String({ pattern: '^[a-z]{3}$' }) }
const Metadata = Type.Object({
  order_id: Type.Optional(Text),
  payment_id: Type.Optional(Text),
  operation_id: Type.Optional(Text)
})

const RefundObject = Type.Object({
  ...Money,
  object: Type.Literal('refund'),
  payment_intent: nullable(Text),
  status: nullable(Text),
  metadata: Type.Optional(nullable(Metadata))
})
const DisputeObject = Type.Object({
  ...Money,
  object: Type.Literal('dispute'),
  payment_intent: nullable(Text),
  status: Text
})
const ChargeObject = Type.Object({
  ...Money,
  object: Type.Literal('charge'),
  amount_captured: Amount,
  captured: Type.Boolean(),
  payment_method_details: Type.Optional(
    nullable(
      Type.Object({ card: Type.Optional(Type.Object({ capture_before: Type.Optional(Type.Integer()) })) })
    )
  ),
  refunded: Type.Optional(Type.Boolean()),
  status: Text,
  payment_intent: Type.Optional(nullable(Text)),
  metadata: Type.Optional(Metadata),
  refunds: Type.Optional(nullable(Type.Object({ data: Type.Array(RefundObject, { maxItems: 100 }) }))),
  dispute: Type.Optional(nullable(Type.Union([Text, DisputeObject])))
})
const StripeIntentObject = Type.Object({
  ...Money,
  object: Type.Literal('payment_intent'),
  amount_received: Amount,
  status: Text,
  client_secret: nullable(Text),
  cancellation_reason: Type.Optional(nullable(Text)),
  payment_method: nullable(Text),
  latest_charge: nullable(Type.Union([Text, ChargeObject])),
  last_payment_error: nullable(
    Type.Object({ payment_method: Type.Optional(Type.Object({ id: Type.Optional(Text) })) })
  ),
  metadata: Metadata
})
const EventObject = Type.Object({
  id: Text,
  type: Text,
  api_version: Type.Optional(nullable(Text)),
  data: Type.Object({ object: Type.Unsafe<unknown>({}) })
})

const ListObject = Type.Object({
  data: Type.Array(Type.Object({ id: Text }), { maxItems: 100 }),
  has_more: Type.Boolean()
})

export type StripeIntentObject = Static<typeof StripeIntentObject>
type RefundObject = Static<typeof RefundObject>
type DisputeObject = Static<typeof DisputeObject>
type ChargeObject = Static<typeof ChargeObject>
type EventObject = Static<typeof EventObject>

function fits<S extends TSchema>(schema: S) {
  const errorsOf = compileSchema(schema)
  return (value: unknown): value is Static<S> => errorsOf(value).length === 0
}
export const isStripePaymentIntent = fits(StripeIntentObject)
export const isStripeRefund = fits(RefundObject)
const isDispute = fits(DisputeObject)
const isCharge = fits(ChargeObject)
export const isStripeEvent = fits(EventObject)
export const isStripeList = fits(ListObject)

/** The kinds of provider objects that change payments, by the value of their field `object`. */
const READ = new Map(
  Object.entries({
    payment_intent: compileSchema(StripeIntentObject),
    refund: compileSchema(RefundObject),
    dispute: compileSchema(DisputeObject),
    charge: compileSchema(ChargeObject)
  })
)
/**
 * Returns the path and the reason of the error in an unreadable object that would change payments;
 * `undefined` for all other objects.
 */
function faultOf(object: unknown): string | undefined {
  if (typeof object !== 'object' || object === null || !('object' in object)) return undefined
  const [fault] = fieldFaults('data/object', READ.get(String(object.object))?.(object) ?? [])
  return fault && `the ${object.object} cannot be read: ${fault.path} ${fault.message}`
}

const INTENT: Record<string, PaymentFactStatus> = {
  requires_payment_method: 'pending',
  requires_confirmation: 'pending',
  requires_action: 'pending',
  processing: 'processing',
  requires_capture: 'authorized',
  canceled: 'canceled',
  succeeded: 'succeeded'
}
const REFUND: Record<string, PaymentFactStatus> = {
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed'
}
const DISPUTE: Record<string, PaymentFactStatus> = {
  won: 'won',
  warning_closed: 'won',
  prevented: 'won',
  lost: 'lost'
}

const fact = (
  kind: PaymentFactKind,
  { id, amount, currency }: { id: string; amount: number; currency: string },
  status: PaymentFactStatus,
  of = amount
): PaymentFact => ({ kind, objectId: id, status, amount: of, currency: currency.toUpperCase() })

const factOfDispute = (dispute: DisputeObject) => fact('dispute', dispute, DISPUTE[dispute.status] ?? 'open')
/**
 * Returns the operation that requested a refund. Null for a refund that the shop did not request, such as one
 * made in the provider's dashboard.
 */
function operationOf({ metadata }: RefundObject): string | null {
  const id = metadata?.operation_id
  return id !== undefined && isId(id) ? id : null
}
export const factOfStripeRefund = (refund: RefundObject): PaymentFact => ({
  ...fact('refund', refund, REFUND[refund.status ?? ''] ?? 'pending'),
  operationId: operationOf(refund)
})

/** Reads the facts of an intent, with its expanded charge, refunds and dispute. */
export function factsOfStripeIntent(intent: StripeIntentObject): PaymentFact[] {
  const { payment_method: method, last_payment_error: error, latest_charge: charge } = intent
  const failed = error?.payment_method?.id
  return [
    fact('intent', intent, INTENT[intent.status] ?? 'pending'),
    ...(failed === undefined ? [] : [fact('attempt', { ...intent, id: failed }, 'failed')]),
    ...(intent.status === 'requires_action' && method !== null
      ? [fact('attempt', { ...intent, id: method }, 'requires_action')]
      : []),
    ...(typeof charge === 'string' ? factsOfChargeBy(charge, intent) : []),
    ...(charge === null || typeof charge === 'string' ? [] : factsOfCharge(charge, intent))
  ]
}

/** Derives the facts of a charge that is not expanded from its intent. */
function factsOfChargeBy(id: string, intent: StripeIntentObject): PaymentFact[] {
  const charge = { ...intent, id }
  const { status, amount_received: received, cancellation_reason: reason } = intent
  if (status === 'requires_capture') return [fact('authorization', charge, 'held')]
  if (status === 'canceled') return [fact('authorization', charge, releaseStatusOf(reason))]
  return status === 'succeeded'
    ? [fact('authorization', charge, 'released'), fact('capture', charge, 'succeeded', received)]
    : []
}
/** Stripe's reason for an expired authorization was `automatic` until 2025-03-31. */
const releaseStatusOf = (reason: string | null | undefined) =>
  reason === 'expired' || reason === 'automatic' ? 'expired' : 'released'

function factsOfCharge(
  charge: ChargeObject,
  { status, cancellation_reason: reason }: Pick<StripeIntentObject, 'status' | 'cancellation_reason'>
): PaymentFact[] {
  const refundsAndDisputes = [
    // Before the capture, Stripe lists a released authorization as a refund.
    ...(charge.captured ? (charge.refunds?.data ?? []).map(factOfStripeRefund) : []),
    ...(typeof charge.dispute === 'object' && charge.dispute !== null ? [factOfDispute(charge.dispute)] : [])
  ]
  if (charge.captured)
    return [
      fact('authorization', charge, 'released'),
      fact('capture', charge, 'succeeded', charge.amount_captured),
      ...refundsAndDisputes
    ]
  if (charge.status !== 'succeeded') return refundsAndDisputes
  if (status === 'canceled')
    return [fact('authorization', charge, releaseStatusOf(reason)), ...refundsAndDisputes]
  const expiresAt = charge.payment_method_details?.card?.capture_before
  return [{ ...fact('authorization', charge, 'held'), expiresAt }, ...refundsAndDisputes]
}

/**
 * Older API versions of Stripe also report a released authorization as a refund. For a refund that the shop did not request,
 * their events do not distinguish the two.
 */
const REFUNDS_ALONE_SINCE = '2025-03-31'
const isAmbiguous = (refund: RefundObject, { api_version }: EventObject): boolean =>
  operationOf(refund) === null && (api_version ?? REFUNDS_ALONE_SINCE) < REFUNDS_ALONE_SINCE

const aboutOf = (
  objectId: string | null,
  of: Static<typeof Metadata> | null | undefined
): PaymentProviderEvent['about'] =>
  objectId === null
    ? null
    : {
        objectId,
        orderId: of?.order_id ?? null,
        paymentId: of?.payment_id !== undefined && isId(of.payment_id) ? of.payment_id : null
      }
const wholeOf = ({ amount, currency }: { amount: number; currency: string }) => ({
  amount,
  currency: currency.toUpperCase()
})

/** Reads a payment, a refund or a dispute. Other objects have no facts. */
function readObject(object: unknown): PaymentProviderEvent {
  if (isStripePaymentIntent(object))
    return {
      about: aboutOf(object.id, object.metadata),
      whole: wholeOf(object),
      facts: factsOfStripeIntent(object)
    }
  if (isStripeRefund(object))
    return { about: aboutOf(object.payment_intent, null), whole: null, facts: [factOfStripeRefund(object)] }
  if (isDispute(object))
    return { about: aboutOf(object.payment_intent, null), whole: null, facts: [factOfDispute(object)] }
  return { about: null, whole: null, facts: [] }
}

/** Reads an object of a provider's list, or returns why it cannot be read. */
export function readListedStripeObject(object: {
  readonly id: string
}): PaymentProviderEvent | UnreadablePaymentProviderObject {
  const error = faultOf(object)
  if (error === undefined) return readObject(object)
  const { id } = object
  const raw = Buffer.from(JSON.stringify({ id: `poll:${id}`, type: 'poll', data: { object } }))
  return { kind: 'unreadable', error, objectId: id, raw }
}

/** Reads an event. An event is unreadable, never ignored, when its object can change a payment and cannot be read. */
export function readStripeEvent(
  received: EventObject
): PaymentProviderCallbackEvent | UnreadablePaymentCallbackEvent {
  const { id, type } = received
  const { object } = received.data
  const event = { kind: 'event', id, type } as const
  const fault = faultOf(object)
  if (fault !== undefined) return { kind: 'unreadable', error: fault, event: { id, type } }
  if (isStripeRefund(object) && isAmbiguous(object, received))
    return {
      kind: 'unreadable',
      error: `the API version of the endpoint, ${received.api_version}, does not distinguish a refund from a released authorization`
    }
  if (!isCharge(object)) return { ...event, ...readObject(object) }
  const data = (object.refunds?.data ?? []).filter(refund => !isAmbiguous(refund, received))
  const facts = factsOfCharge({ ...object, refunds: { data } }, endOf(object, type))
  const about = aboutOf(object.payment_intent ?? null, object.metadata)
  return { ...event, about, whole: wholeOf(object), facts }
}

/** Derives the end of an authorization from the charge, because the event has no intent. */
function endOf({ captured, refunded }: ChargeObject, type: string) {
  if (type === 'charge.expired') return { status: 'canceled', cancellation_reason: 'expired' }
  return { status: !captured && refunded === true ? 'canceled' : 'unsaid' }
}
