import { definePort } from '../../../kernel/ports.ts'
import type { PaymentFact } from '../facts/fact.ts'

export type PaymentOperationKind = 'create' | 'capture' | 'void' | 'refund'

/**
 * The payment of an operation.
 * @example
 * const isSent = ({ objectId }: PaymentForProvider): boolean => objectId !== null
 */
export type PaymentForProvider = {
  readonly id: string
  readonly orderId: string
  readonly method: string
  readonly amount: number
  readonly currency: string
  /** The id of the payment at the provider. Null until the provider has returned the id. */
  readonly objectId: string | null
}
/**
 * A request to a provider: to start, capture, void or refund a payment. Amounts are in minor units.
 * @example
 * const bytesOf = ({ kind, amount }: PaymentProviderOperation) => Buffer.from(JSON.stringify({ kind, amount }))
 */
export type PaymentProviderOperation = {
  /** The idempotency key at the provider. */
  readonly id: string
  readonly kind: PaymentOperationKind
  readonly amount: number
  /** Payment reference that the customer states: the order number. */
  readonly reference: string
  readonly payment: PaymentForProvider
}

/**
 * What the customer needs in order to pay.
 * @example
 * const step: CustomerPaymentStep = { redirect_url: 'https://pay.example/1' }
 */
export type CustomerPaymentStep = {
  readonly client_secret?: string
  readonly redirect_url?: string
  /** Instructions for the customer, such as the account details of a bank transfer. */
  readonly action?: { readonly type: string; readonly reference: string; readonly text: string }
}

/**
 * The result of an operation, as the provider's adapter reads it.
 * @example
 * const lost: ParsedPaymentProviderResponse = { kind: 'unknown', error: 'the connection was closed' }
 */
export type ParsedPaymentProviderResponse =
  | {
      readonly kind: 'done'
      /** The ids of the payment and of the object that the operation created, both at the provider. */
      readonly paymentObjectId: string
      readonly objectId?: string
      readonly facts: readonly PaymentFact[]
      readonly next?: CustomerPaymentStep
    }
  /** The provider rejected the operation finally. */
  | { readonly kind: 'refused'; readonly error: string; readonly facts: readonly PaymentFact[] }
  /** The result is not known. The operation is sent again, with the same bytes and key. */
  | { readonly kind: 'unknown'; readonly error: string }

/**
 * Facts that a provider reports without an operation: in a callback or in its lists.
 * @example
 * const event: PaymentProviderEvent = { about: null, whole: { amount: 1_250, currency: 'EUR' }, facts: [] }
 */
export type PaymentProviderEvent = {
  /**
   * The payment that the object names. `orderId` and `paymentId` come from the metadata of the shop. Null:
   * the object names no payment.
   */
  readonly about: {
    readonly orderId: string | null
    readonly paymentId: string | null
    readonly objectId: string
  } | null
  /** Amount and currency of the whole payment. Null: the object does not state them. */
  readonly whole: { readonly amount: number; readonly currency: string } | null
  readonly facts: readonly PaymentFact[]
}
/**
 * A listed object that cannot be read. `raw` can be read again later with `callbacks.read`.
 * @example
 * const reasonOf = ({ objectId, error }: UnreadablePaymentProviderObject): string => `${objectId}: ${error}`
 */
export type UnreadablePaymentProviderObject = {
  readonly kind: 'unreadable'
  readonly error: string
  readonly objectId: string
  readonly raw: Buffer
}
/**
 * A parsed callback.
 * @example
 * const nameOf = ({ id, type }: PaymentProviderCallbackEvent): string => `${type} ${id}`
 */
export type PaymentProviderCallbackEvent = PaymentProviderEvent & {
  readonly kind: 'event'
  /** The id that the provider gave the event. */
  readonly id: string
  readonly type: string
}
/**
 * A callback with a valid signature that cannot be read.
 * @example
 * const unreadable: UnreadablePaymentCallbackEvent = { kind: 'unreadable', error: 'the body is not JSON' }
 */
export type UnreadablePaymentCallbackEvent = {
  readonly kind: 'unreadable'
  readonly error: string
  /** The id and type of the event, if these can be read. */
  readonly event?: Pick<PaymentProviderCallbackEvent, 'id' | 'type'>
}
/**
 * Result of verifying a callback's signature. `right`: the provider signed these bytes within the last five
 * minutes.
 * @example
 * const isAccepted = (status: PaymentCallbackSignatureStatus): boolean => status === 'right'
 */
export type PaymentCallbackSignatureStatus = 'right' | 'unsigned' | 'wrong' | 'old' | 'future'
type Callbacks = {
  verify(raw: Buffer, headers: Readonly<Record<string, unknown>>, now: Date): PaymentCallbackSignatureStatus
  read(raw: Buffer): PaymentProviderCallbackEvent | UnreadablePaymentCallbackEvent
}

/** Where a customer pays: on a page of the provider, in the shop front with the provider's script, or outside the shop. */
type PaymentKind = 'redirect' | 'client' | 'offline'

/**
 * Adapter of a payment provider. Every call can be repeated with the same outcome.
 * @example
 * const isInBrowser = ({ kind }: PaymentProvider): boolean => kind === 'client'
 */
export type PaymentProvider = {
  /** Payment methods, the default first. */
  readonly methods: readonly string[]
  readonly kind: PaymentKind
  /** Public key for the provider's script in the browser. */
  readonly publishableKey?: string
  /** Whether the provider supports a currency. */
  supportsCurrency(currency: string): boolean
  /** What can be captured: the authorized amount, or, without authorizations, the remaining amount. */
  readonly capturable: 'held' | 'remaining'
  /** Whether a capture may be less than that. The provider voids the rest. Otherwise the shop captures the whole amount only. */
  readonly canCapturePart: boolean
  /** How long the provider remembers an idempotency key. After that, `find` returns the result. */
  readonly idempotencyKeySeconds: number
  /** Builds the request bytes. Pure: they are stored, and every retry sends them unchanged. */
  prepare(draft: PaymentProviderOperation): Buffer
  /**
   * Sends a request. The response may already contain facts: an authorization, a capture, or a step that the customer must
   * take. `refused`: the provider declined finally.
   */
  send(request: Buffer, key: string): Promise<ParsedPaymentProviderResponse>
  /**
   * Returns what `send` would, without a call. Only for providers without an external service: their results are recorded in
   * the transaction that asks for them, and `send` is not called.
   */
  respondLocally?(draft: PaymentProviderOperation): ParsedPaymentProviderResponse
  /** Retrieves the payment. Null: the provider has none. */
  fetch(payment: PaymentForProvider): Promise<ParsedPaymentProviderResponse | null>
  /** Finds the result of an operation whose key is forgotten. Null: the provider never received it. */
  find(draft: PaymentProviderOperation): Promise<ParsedPaymentProviderResponse | null>
  /**
   * Lists the objects that may have changed since a date, in their present state. Absent for providers without lists. Throws
   * when the provider does not respond.
   */
  list?(since: Date): AsyncIterable<PaymentProviderEvent | UnreadablePaymentProviderObject>
  /** Verifies and reads callbacks. Absent for providers without callbacks. */
  readonly callbacks?: Callbacks
}

/** The name of a provider is stored with its payments and is part of the URL of its callbacks. */
export const paymentProviderPort = definePort<PaymentProvider>('payments.provider', {
  description: 'Takes payments: sends payments, captures, voids and refunds, and reads their results.',
  providers: 'many'
})
