import type { Fact } from '../facts/fact.ts'

export type OperationKind = 'create' | 'capture' | 'void' | 'refund'

/** The payment that an operation is about. */
export type PaymentRef = {
  readonly id: string
  readonly orderId: string
  readonly method: string
  readonly amount: number
  readonly currency: string
  /** What the provider calls it; null before it has said so. */
  readonly objectId: string | null
}
export type Draft = {
  /** The key under which the provider is asked. */
  readonly id: string
  readonly kind: OperationKind
  readonly amount: number
  /** What the customer names with the payment: the number of the order. */
  readonly reference: string
  readonly payment: PaymentRef
}

/** What the customer needs in order to pay. */
export type NextStep = {
  readonly client_secret?: string
  readonly redirect_url?: string
  /** What to tell the customer, such as the account of a bank transfer. */
  readonly action?: { readonly type: string; readonly reference: string; readonly text: string }
}

export type Answer =
  | {
      readonly kind: 'done'
      /** What the provider calls the payment, and what this operation made beside it. */
      readonly paymentObjectId: string
      readonly objectId?: string
      readonly facts: readonly Fact[]
      readonly next?: NextStep
    }
  /** The provider will not do it, now or later. */
  | { readonly kind: 'refused'; readonly error: string; readonly facts: readonly Fact[] }
  /** Whether it was done is not known: it is asked again, with the same bytes under the same key. */
  | { readonly kind: 'unknown'; readonly error: string }

/** What a provider says of its own accord: in a callback, or in its books. */
export type Saying = {
  /** Of us, as we told the provider; null: it says nothing about a payment of ours. */
  readonly about: {
    readonly orderId: string | null
    readonly paymentId: string | null
    readonly objectId: string
  } | null
  /** What the payment as a whole is for; null when it says that of no payment. */
  readonly whole: { readonly amount: number; readonly currency: string } | null
  readonly facts: readonly Fact[]
}
/** An object in the books of a provider that cannot be read. `raw`: bytes that `callbacks.read` takes, to read it again later. */
export type UnreadableObject = {
  readonly kind: 'unreadable'
  readonly error: string
  readonly objectId: string
  readonly raw: Buffer
}
/** What a callback says. */
export type CallbackEvent = Saying & {
  readonly kind: 'event'
  /** The provider's own id of it. */
  readonly id: string
  readonly type: string
}
/** Signed by the provider, and yet nothing that can be read. */
export type Unreadable = {
  readonly kind: 'unreadable'
  readonly error: string
  /** The provider's own id and type, where at least these can be read. */
  readonly event?: Pick<CallbackEvent, 'id' | 'type'>
}
/** Whether a provider has signed something just now. */
export type Signature = 'right' | 'unsigned' | 'wrong' | 'old' | 'future'
type Callbacks = {
  verify(raw: Buffer, headers: Readonly<Record<string, unknown>>, now: Date): Signature
  read(raw: Buffer): CallbackEvent | Unreadable
}

/** Where a customer pays: on a page of the provider, in the shop front by the provider's code, or nowhere that we see. */
type PaymentKind = 'redirect' | 'client' | 'offline'

/** Somebody who moves money. All of it may be called again, with the same outcome. */
export type Provider = {
  readonly name: string
  /** How it can be paid by, the usual way first. */
  readonly methods: readonly string[]
  readonly kind: PaymentKind
  /** What the provider's code in a browser asks for. Everybody may know it. */
  readonly publishableKey?: string
  /** Whether it can be paid in a currency. */
  takes(currency: string): boolean
  /** How much of a payment can be taken now: what is held, or, where nobody holds anything, what is left. */
  readonly capturable: 'held' | 'remaining'
  /** How long the provider remembers a key; afterwards `find` says what became of it. */
  readonly keySeconds: number
  /** The bytes that ask for it. Pure: they are kept, and sent again as they are. */
  prepare(draft: Draft): Buffer
  send(request: Buffer, key: string): Promise<Answer>
  /** What is known of the payment now; null: the provider knows of none. */
  fetch(payment: PaymentRef): Promise<Answer | null>
  /** What became of an operation whose key is forgotten; null: it never arrived. */
  find(draft: Draft): Promise<Answer | null>
  /**
   * All that something may have become of since then, as it is now; `undefined` where nobody keeps books. Throws when it does
   * not answer.
   */
  list?(since: Date): AsyncIterable<Saying | UnreadableObject>
  /** `undefined` where nobody calls back. */
  readonly callbacks?: Callbacks
}
