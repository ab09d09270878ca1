import type { PaymentFact } from '../facts/fact.ts'
import type {
  CustomerPaymentStep,
  ParsedPaymentProviderResponse,
  PaymentProvider,
  PaymentProviderOperation
} from './port.ts'

type ManualRequest = Pick<PaymentProviderOperation, 'id' | 'kind' | 'amount' | 'reference'> & {
  paymentId: string
  method: string
  total: number
  currency: string
}

export type ManualPaymentSettings = {
  readonly methods: readonly string[]
  /** Account details. Without them, production does not offer bank transfer. */
  readonly bankTransfer: string
  readonly isProduction: boolean
}

const BANK_TRANSFER = 'bank_transfer'
/** Placeholder for the account details in development. */
const PLACEHOLDER =
  'No account details are set (payments.bank_transfer). Production does not offer bank transfer without them.'

/** The methods that customers can choose. */
export const listManualPaymentMethods = ({
  methods,
  bankTransfer,
  isProduction
}: ManualPaymentSettings): readonly string[] =>
  bankTransfer.trim() === '' && isProduction ? methods.filter(method => method !== BANK_TRANSFER) : methods

/**
 * Manual payments: bank transfer, cash on delivery and on account. There is no external service: what an administrator
 * captures, voids or refunds is recorded as a fact immediately.
 */
export function createManualPaymentProvider(settings: ManualPaymentSettings): PaymentProvider {
  const bankTransfer = settings.bankTransfer.trim() || PLACEHOLDER
  const nextOf = ({ method, reference }: ManualRequest): CustomerPaymentStep => ({
    action: {
      type: method,
      reference,
      text: method === BANK_TRANSFER ? bankTransfer : ''
    }
  })

  function respond(request: ManualRequest): ParsedPaymentProviderResponse {
    const { id, kind, amount, paymentId, total, currency } = request
    const done = (fact: Omit<PaymentFact, 'currency'>): ParsedPaymentProviderResponse => ({
      kind: 'done',
      paymentObjectId: paymentId,
      objectId: fact.objectId,
      facts: [{ ...fact, currency } as PaymentFact],
      ...(kind === 'create' && { next: nextOf(request) })
    })
    switch (kind) {
      case 'create':
        return done({ kind: 'intent', objectId: paymentId, status: 'pending', amount: total })
      case 'void':
        return done({ kind: 'intent', objectId: paymentId, status: 'canceled', amount: total })
      default:
        return done({ kind, objectId: id, status: 'succeeded', amount })
    }
  }

  const requestOf = ({ id, kind, amount, reference, payment }: PaymentProviderOperation): ManualRequest => {
    const { id: paymentId, method, amount: total, currency } = payment
    return { id, kind, amount, reference, paymentId, method, total, currency }
  }
  const respondLocally = (draft: PaymentProviderOperation) => respond(requestOf(draft))

  return {
    methods: listManualPaymentMethods(settings),
    kind: 'offline',
    supportsCurrency: () => true,
    capturable: 'remaining',
    canCapturePart: true,
    idempotencyKeySeconds: Number.POSITIVE_INFINITY,
    respondLocally,
    prepare: draft => Buffer.from(JSON.stringify(requestOf(draft))),
    send: async request => respond(JSON.parse(request.toString())),
    fetch: async ({ id }) => ({ kind: 'done', paymentObjectId: id, facts: [] }),
    find: async draft => respondLocally(draft)
  }
}
