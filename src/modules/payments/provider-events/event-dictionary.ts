const CHARGE = {
  id: 'ch_0',
  object: 'charge',
  amount: 0,
  amount_captured: 0,
  amount_refunded: 0,
  captured: true,
  created: 0,
  currency: 'eur',
  disputed: false,
  failure_code: null,
  failure_message: null,
  livemode: false,
  paid: true,
  payment_intent: 'pi_0',
  payment_method_details: { type: 'card', card: {} },
  refunded: false,
  status: 'succeeded'
}
/** A typical event, as Stripe sends it. */
const EVENT = {
  id: 'evt_0',
  object: 'event',
  api_version: null,
  created: 17,
  data: {
    object: {
      id: 'pi_0',
      object: 'payment_intent',
      amount: 0,
      currency: 'usd',
      capture_method: 'automatic',
      metadata: { order_id: '01', payment_id: '01', operation_id: '01' },
      amount_capturable: 0,
      amount_received: 0,
      canceled_at: null,
      cancellation_reason: null,
      client_secret: '_secret_',
      confirmation_method: 'automatic',
      created: 17,
      customer: null,
      description: null,
      last_payment_error: null,
      latest_charge: CHARGE,
      livemode: false,
      next_action: null,
      payment_method: null,
      payment_method_types: ['card'],
      status: 'requires_payment_method'
    }
  },
  livemode: false,
  pending_webhooks: 1,
  request: { id: null, idempotency_key: null },
  type: 'payment_intent.succeeded'
}

/** The text that events repeat. It never changes, because stored events cannot be read with another one. */
export const EVENT_DICTIONARY: Buffer = Buffer.from(
  `${JSON.stringify(EVENT, null, 2)}\n${JSON.stringify(EVENT)}`
)
