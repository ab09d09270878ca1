import { randomBytes } from 'node:crypto'
import type { SandboxObject } from './ledger.ts'

// Objects with the fields of Stripe's that a client may read.

export const newSandboxObjectId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

export type SandboxIntent = SandboxObject & {
  object: 'payment_intent'
  amount: number
  amount_capturable: number
  amount_received: number
  currency: string
  status: string
  capture_method: 'automatic' | 'manual'
  client_secret: string
  latest_charge: string | null
  payment_method: string | null
  metadata: Record<string, string>
}
export type SandboxCharge = SandboxObject & {
  object: 'charge'
  amount: number
  amount_captured: number
  amount_refunded: number
  captured: boolean
  currency: string
  payment_intent: string
  status: string
}
export type SandboxRefund = SandboxObject & {
  object: 'refund'
  amount: number
  currency: string
  payment_intent: string
  charge: string
  status: string
  metadata: Record<string, string>
}

type IntentFields = Pick<SandboxIntent, 'amount' | 'currency' | 'capture_method' | 'metadata'>

export function newSandboxIntent(created: number, wanted: IntentFields): SandboxIntent {
  const id = newSandboxObjectId('pi')
  return {
    id,
    object: 'payment_intent',
    ...wanted,
    amount_capturable: 0,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    client_secret: `${id}_secret_${randomBytes(16).toString('hex')}`,
    confirmation_method: 'automatic',
    created,
    customer: null,
    description: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    next_action: null,
    payment_method: null,
    payment_method_types: ['card'],
    status: 'requires_payment_method'
  }
}

/** Authorizations expire after a week. */
const HELD_SECONDS = 7 * 86_400

export function newSandboxCharge(
  created: number,
  { id, amount, currency, capture_method: method }: SandboxIntent
): SandboxCharge {
  return {
    id: newSandboxObjectId('ch'),
    object: 'charge',
    amount,
    amount_captured: 0,
    amount_refunded: 0,
    captured: false,
    created,
    currency,
    disputed: false,
    failure_code: null,
    failure_message: null,
    livemode: false,
    paid: true,
    payment_intent: id,
    payment_method_details: {
      type: 'card',
      card: method === 'manual' ? { capture_before: created + HELD_SECONDS } : {}
    },
    refunded: false,
    status: 'succeeded'
  }
}

export function newSandboxRefund(
  created: number,
  { currency, payment_intent, id }: SandboxCharge,
  amount: number,
  metadata: Record<string, string>
): SandboxRefund {
  return {
    id: newSandboxObjectId('re'),
    object: 'refund',
    amount,
    charge: id,
    created,
    currency,
    metadata,
    payment_intent,
    reason: null,
    status: 'succeeded'
  }
}

export const newSandboxDispute = (
  created: number,
  { currency, payment_intent, id }: SandboxCharge,
  amount: number
) => ({
  id: newSandboxObjectId('dp'),
  object: 'dispute',
  amount,
  charge: id,
  created,
  currency,
  is_charge_refundable: false,
  livemode: false,
  metadata: {},
  payment_intent,
  reason: 'general',
  status: 'needs_response'
})

export const newSandboxEvent = (created: number, type: string, object: unknown): SandboxObject => ({
  id: newSandboxObjectId('evt'),
  object: 'event',
  api_version: null,
  created,
  data: { object },
  livemode: false,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  type
})
