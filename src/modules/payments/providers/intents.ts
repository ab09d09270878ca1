import type { Fact } from '../facts/fact.ts'
import {
  factOfRefund,
  factsOfIntent,
  type IntentObject,
  isEvent,
  isIntent,
  isList,
  isRefund,
  listedOf,
  readEvent
} from './objects.ts'
import type { Answer, Draft, NextStep, PaymentRef, Provider, Saying, UnreadableObject } from './port.ts'
import { judgeSignature } from './signature.ts'

const DAY_SECONDS = 86_400
/** Keys are forgotten after a day; an operation that is nearly as old is looked for instead of sent again. */
const KEY_SECONDS = DAY_SECONDS - 3_600
/** So long something may be held before it is taken. */
const HELD_SECONDS = 7 * DAY_SECONDS

/** How many Stripe lists at once. */
const PAGE = 100

type Request = { readonly path: string; readonly body: object }
type Said = { readonly status: number; readonly json: unknown }

/** Somebody who speaks of payment intents, as Stripe does. */
type Speaker = Pick<Provider, 'name' | 'kind' | 'publishableKey' | 'takes'> & {
  /** @throws when no answer came. */
  get(path: string): Promise<Said>
  post(request: Request, key: string): Promise<Said>
  /** What is asked beside what everybody is asked. */
  readonly extras: { readonly create: object; readonly every: object }
  /** Where what is known of a payment, or of a refund, can be read: an object, or a list that it is in. */
  paymentPath(payment: PaymentRef): string
  refundPath(refund: Draft): string
  next(intent: IntentObject): Promise<NextStep> | NextStep
  readonly capture: 'automatic' | 'manual'
  readonly signatureHeader: string
  readonly webhookSecrets: readonly string[]
}

/** Who is paid by cards: asks a speaker, and understands what it says. */
export function createIntentProvider(speaker: Speaker): Provider {
  const { name, kind, publishableKey, takes, extras, capture, signatureHeader, webhookSecrets } = speaker

  /** Whatever ends without an answer that is understood may have been done. */
  async function answerOf({ status, json }: Said): Promise<Answer> {
    // What is wrong with a key the operator mends; no payment fails by it.
    if (status >= 500 || [401, 403, 409, 429].includes(status))
      return { kind: 'unknown', error: `answered ${status}: ${errorOf(json)}` }
    if (status >= 400) return { kind: 'refused', error: errorOf(json), facts: factsOfRefusal(json) }
    if (isIntent(json)) {
      const done = { kind: 'done', paymentObjectId: json.id, facts: factsOfIntent(json) } as const
      return json.client_secret === null ? done : { ...done, next: await speaker.next(json) }
    }
    if (isRefund(json) && json.payment_intent !== null)
      return {
        kind: 'done',
        paymentObjectId: json.payment_intent,
        objectId: json.id,
        facts: [factOfRefund(json)]
      }
    return { kind: 'unknown', error: 'answered something that is not understood' }
  }
  const unheard = (error: unknown): Answer => ({ kind: 'unknown', error: String(error) })

  /** Null: there is none. Of a list the one that `isIt`. */
  async function read(path: string, isIt: (object: unknown) => boolean): Promise<Answer | null> {
    const said = await speaker.get(path)
    if (said.status === 404) return null
    if (said.status !== 200) throw new Error(`answered ${said.status}: ${errorOf(said.json)}`)
    const { data } = (said.json ?? {}) as { data?: unknown }
    const json = Array.isArray(data) ? data.find(isIt) : said.json
    return json === undefined ? null : answerOf({ ...said, json })
  }
  const fetch = (payment: PaymentRef) => read(speaker.paymentPath(payment), isIntent).catch(unheard)
  const findRefund = (draft: Draft) =>
    read(
      speaker.refundPath(draft),
      object => isRefund(object) && object.metadata?.operation_id === draft.id
    ).catch(unheard)

  /** Page by page, the latest first. */
  async function* pages(path: string): AsyncGenerator<{ readonly id: string }> {
    for (let place = ''; ; ) {
      const { status, json } = await speaker.get(`${path}${place}`)
      if (status !== 200) throw new Error(`answered ${status}: ${errorOf(json)}`)
      if (!isList(json)) throw new Error('answered something that is not understood')
      yield* json.data
      const last = json.data.at(-1)
      if (!json.has_more || last === undefined) return
      place = `&starting_after=${encodeURIComponent(last.id)}`
    }
  }
  /** Payments that were begun before may have been taken since then. */
  async function* list(since: Date): AsyncGenerator<Saying | UnreadableObject> {
    const seconds = Math.floor(since.getTime() / 1_000)
    const at = (kind: string, from: number) => `/v1/${kind}?limit=${PAGE}&created[gte]=${from}`
    const intents = `${at('payment_intents', seconds - HELD_SECONDS)}&expand[]=data.latest_charge.refunds`
    for (const path of [intents, at('refunds', seconds), at('disputes', seconds)])
      for await (const object of pages(path)) yield listedOf(object)
  }

  return {
    name,
    methods: ['card'],
    kind,
    ...(publishableKey !== undefined && { publishableKey }),
    takes,
    capturable: 'held',
    keySeconds: KEY_SECONDS,
    prepare: draft => {
      const { path, body } = requestOf(draft, capture)
      const extra = draft.kind === 'create' ? extras.create : {}
      const every = draft.kind === 'refund' ? {} : extras.every
      return Buffer.from(JSON.stringify({ path, body: { ...body, ...extra, ...every } }))
    },
    send: (request, key) =>
      speaker
        .post(JSON.parse(request.toString()) as Request, key)
        .then(answerOf)
        .catch(unheard),
    fetch,
    list,
    find: async draft =>
      draft.kind === 'refund' ? findRefund(draft) : foundIn(draft, await fetch(draft.payment)),
    callbacks: {
      verify: (raw, headers, now) => judgeSignature(webhookSecrets, headers[signatureHeader], raw, now),
      read: raw => {
        const event = parse(raw)
        return isEvent(event) ? readEvent(event) : { kind: 'unreadable', error: 'this is no event' }
      }
    }
  }
}

function requestOf({ id, kind, amount, payment }: Draft, capture: 'automatic' | 'manual'): Request {
  const metadata = { order_id: payment.orderId, payment_id: payment.id, operation_id: id }
  const intent = `/v1/payment_intents/${payment.objectId}`
  switch (kind) {
    case 'create': {
      const currency = payment.currency.toLowerCase()
      return { path: '/v1/payment_intents', body: { amount, currency, capture_method: capture, metadata } }
    }
    case 'capture':
      return { path: `${intent}/capture`, body: { amount_to_capture: amount } }
    case 'void':
      return { path: `${intent}/cancel`, body: {} }
    case 'refund':
      return { path: '/v1/refunds', body: { payment_intent: payment.objectId, amount, metadata } }
  }
}
/** Whether a capture or a void was done is seen by the payment. */
function foundIn({ kind }: Draft, answer: Answer | null): Answer | null {
  if (answer?.kind !== 'done' || kind === 'create') return answer
  const { facts } = answer
  const is = (status: string) => facts.some(fact => fact.kind === 'intent' && fact.status === status)
  if (kind === 'capture' ? is('succeeded') : is('canceled')) return answer
  // It is over in another way, or it did not arrive.
  return is('succeeded') || is('canceled') ? { kind: 'refused', error: 'the payment is over', facts } : null
}

/** A refusal because of the state tells the payment as it is. */
function factsOfRefusal(json: unknown): Fact[] {
  const { error } = (json ?? {}) as { error?: { payment_intent?: unknown } }
  return isIntent(error?.payment_intent) ? factsOfIntent(error.payment_intent) : []
}
function errorOf(json: unknown): string {
  const { error } = (json ?? {}) as { error?: { code?: string; message?: string } }
  return [error?.code, error?.message].filter(part => part !== undefined).join(': ') || 'refused'
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString())
  } catch {
    return undefined
  }
}
