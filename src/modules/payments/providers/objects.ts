import { faultsOf } from '../../../kernel/faults.ts'
import { isId } from '../../../kernel/ids.ts'
import { type Static, type TSchema, Type } from '../../../kernel/schema.ts'
import { compileSchema, type SchemaError } from '../../../kernel/validate.ts'
import { nullable } from '../../../kernel/wire.ts'
import type { Fact, FactKind, FactStatus } from '../facts/fact.ts'
import type { CallbackEvent, Saying, Unreadable, UnreadableObject } from './port.ts'

// What Stripe's objects mean, and those of the sandbox, which are shaped after them. Only what is read is named.

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
const IntentObject = Type.Object({
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

export type IntentObject = Static<typeof IntentObject>
type RefundObject = Static<typeof RefundObject>
type DisputeObject = Static<typeof DisputeObject>
type ChargeObject = Static<typeof ChargeObject>
type EventObject = Static<typeof EventObject>

/** Compiled when the first object comes, which in most processes is never. */
function fits<S extends TSchema>(schema: S) {
  const errorsOf = faultsIn(schema)
  return (value: unknown): value is Static<S> => errorsOf(value).length === 0
}
function faultsIn(schema: TSchema) {
  let errorsOf: ReturnType<typeof compileSchema> | undefined
  return (value: unknown): SchemaError[] => {
    errorsOf ??= compileSchema(schema)
    return errorsOf(value)
  }
}
export const isIntent = fits(IntentObject)
export const isRefund = fits(RefundObject)
const isDispute = fits(DisputeObject)
const isCharge = fits(ChargeObject)
export const isEvent = fits(EventObject)
export const isList = fits(ListObject)

/** The kinds of objects that change payments, as `object` names them. */
const READ = new Map(
  Object.entries({
    payment_intent: faultsIn(IntentObject),
    refund: faultsIn(RefundObject),
    dispute: faultsIn(DisputeObject),
    charge: faultsIn(ChargeObject)
  })
)
/** Why an object of a kind that changes payments cannot be read, with the path; `undefined` for all others. */
function faultOf(object: unknown): string | undefined {
  if (typeof object !== 'object' || object === null || !('object' in object)) return undefined
  const [fault] = faultsOf('data/object', READ.get(String(object.object))?.(object) ?? [])
  return fault && `the ${object.object} cannot be read: ${fault.path} ${fault.message}`
}

const INTENT: Record<string, FactStatus> = {
  requires_payment_method: 'pending',
  requires_confirmation: 'pending',
  requires_action: 'pending',
  processing: 'processing',
  requires_capture: 'authorized',
  canceled: 'canceled',
  succeeded: 'succeeded'
}
const REFUND: Record<string, FactStatus> = { succeeded: 'succeeded', failed: 'failed', canceled: 'failed' }
const DISPUTE: Record<string, FactStatus> = {
  won: 'won',
  warning_closed: 'won',
  prevented: 'won',
  lost: 'lost'
}

const fact = (
  kind: FactKind,
  { id, amount, currency }: { id: string; amount: number; currency: string },
  status: FactStatus,
  of = amount
): Fact => ({ kind, objectId: id, status, amount: of, currency: currency.toUpperCase() })

const factOfDispute = (dispute: DisputeObject) => fact('dispute', dispute, DISPUTE[dispute.status] ?? 'open')
/** Of what was not asked for by us, such as a refund by hand, there is none. */
function operationOf({ metadata }: RefundObject): string | null {
  const id = metadata?.operation_id
  return id !== undefined && isId(id) ? id : null
}
export const factOfRefund = (refund: RefundObject): Fact => ({
  ...fact('refund', refund, REFUND[refund.status ?? ''] ?? 'pending'),
  operationId: operationOf(refund)
})

/** All that an intent says, with the charge, refunds and dispute that came along. */
export function factsOfIntent(intent: IntentObject): Fact[] {
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

/** Events name the charge alone; what became of it is seen by the intent. */
function factsOfChargeBy(id: string, intent: IntentObject): Fact[] {
  const charge = { ...intent, id }
  const { status, amount_received: received, cancellation_reason: reason } = intent
  if (status === 'requires_capture') return [fact('authorization', charge, 'held')]
  if (status === 'canceled') return [fact('authorization', charge, letGo(reason))]
  return status === 'succeeded'
    ? [fact('authorization', charge, 'released'), fact('capture', charge, 'succeeded', received)]
    : []
}
/** Until 2025-03-31 Stripe called it automatic. */
const letGo = (reason: string | null | undefined) =>
  reason === 'expired' || reason === 'automatic' ? 'expired' : 'released'

function factsOfCharge(
  charge: ChargeObject,
  { status, cancellation_reason: reason }: Pick<IntentObject, 'status' | 'cancellation_reason'>
): Fact[] {
  const back = [
    // What was never taken goes nowhere.
    ...(charge.captured ? (charge.refunds?.data ?? []).map(factOfRefund) : []),
    ...(typeof charge.dispute === 'object' && charge.dispute !== null ? [factOfDispute(charge.dispute)] : [])
  ]
  if (charge.captured)
    return [
      fact('authorization', charge, 'released'),
      fact('capture', charge, 'succeeded', charge.amount_captured),
      ...back
    ]
  if (charge.status !== 'succeeded') return back
  if (status === 'canceled') return [fact('authorization', charge, letGo(reason)), ...back]
  const expiresAt = charge.payment_method_details?.card?.capture_before
  return [{ ...fact('authorization', charge, 'held'), expiresAt }, ...back]
}

/**
 * Stripe once called it a refund, too, when it let go of what was held and not taken: of a refund that nobody asked us for,
 * events in such a version of its API do not tell which of the two it is.
 */
const REFUNDS_ALONE_SINCE = '2025-03-31'
const isAmbiguous = (refund: RefundObject, { api_version }: EventObject): boolean =>
  operationOf(refund) === null && (api_version ?? REFUNDS_ALONE_SINCE) < REFUNDS_ALONE_SINCE

const aboutOf = (objectId: string | null, of: Static<typeof Metadata> | null | undefined): Saying['about'] =>
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

/** What a payment, a refund or a dispute says. Nothing else concerns us. */
function sayingOf(object: unknown): Saying {
  if (isIntent(object))
    return {
      about: aboutOf(object.id, object.metadata),
      whole: wholeOf(object),
      facts: factsOfIntent(object)
    }
  if (isRefund(object))
    return { about: aboutOf(object.payment_intent, null), whole: null, facts: [factOfRefund(object)] }
  if (isDispute(object))
    return { about: aboutOf(object.payment_intent, null), whole: null, facts: [factOfDispute(object)] }
  return { about: null, whole: null, facts: [] }
}

/** What an object of the provider's books says, or why it cannot be read. */
export function listedOf(object: { readonly id: string }): Saying | UnreadableObject {
  const error = faultOf(object)
  if (error === undefined) return sayingOf(object)
  const { id } = object
  const raw = Buffer.from(JSON.stringify({ id: `poll:${id}`, type: 'poll', data: { object } }))
  return { kind: 'unreadable', error, objectId: id, raw }
}

/** What an event is about. One whose object should change a payment and cannot be read is unreadable, never ignored. */
export function readEvent(told: EventObject): CallbackEvent | Unreadable {
  const { id, type } = told
  const { object } = told.data
  const event = { kind: 'event', id, type } as const
  const fault = faultOf(object)
  if (fault !== undefined) return { kind: 'unreadable', error: fault, event: { id, type } }
  if (isRefund(object) && isAmbiguous(object, told))
    return {
      kind: 'unreadable',
      error: `the API version of the endpoint, ${told.api_version}, does not tell a refund from what a capture leaves`
    }
  if (!isCharge(object)) return { ...event, ...sayingOf(object) }
  const data = (object.refunds?.data ?? []).filter(refund => !isAmbiguous(refund, told))
  const facts = factsOfCharge({ ...object, refunds: { data } }, endOf(object, type))
  const about = aboutOf(object.payment_intent ?? null, object.metadata)
  return { ...event, about, whole: wholeOf(object), facts }
}

/** Whether what a charge held was let go of, which its intent would say. */
function endOf({ captured, refunded }: ChargeObject, type: string) {
  if (type === 'charge.expired') return { status: 'canceled', cancellation_reason: 'expired' }
  return { status: !captured && refunded === true ? 'canceled' : 'unsaid' }
}
