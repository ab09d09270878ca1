import type { Fact } from '../facts/fact.ts'
import type { Answer, Draft, NextStep, Provider } from './port.ts'

type Asked = Pick<Draft, 'id' | 'kind' | 'amount' | 'reference'> & {
  paymentId: string
  method: string
  total: number
  currency: string
}

export type ManualSettings = {
  readonly methods: readonly string[]
  /** The account details. Without them, production offers no bank transfer. */
  readonly bankTransfer: string
  readonly isProduction: boolean
}

const BANK_TRANSFER = 'bank_transfer'
/** What stands for the account details in development. */
const PLACEHOLDER =
  'No account details are set (payments.bank_transfer). Production does not offer bank transfer without them.'

/** The methods that customers can choose. */
export const offeredMethods = ({ methods, bankTransfer, isProduction }: ManualSettings): readonly string[] =>
  bankTransfer.trim() === '' && isProduction ? methods.filter(method => method !== BANK_TRANSFER) : methods

/**
 * Money that no program moves: bank transfers, cash on delivery, and orders on account. Nobody is asked anything; what an
 * administrator captures, voids or refunds has happened, and is a fact by that.
 */
export function createManualProvider(settings: ManualSettings): Provider {
  const bankTransfer = settings.bankTransfer.trim() || PLACEHOLDER
  const nextOf = ({ method, reference }: Asked): NextStep => ({
    action: {
      type: method,
      reference,
      text: method === BANK_TRANSFER ? bankTransfer : ''
    }
  })

  function answer(asked: Asked): Answer {
    const { id, kind, amount, paymentId, total, currency } = asked
    const done = (fact: Omit<Fact, 'currency'>): Answer => ({
      kind: 'done',
      paymentObjectId: paymentId,
      objectId: fact.objectId,
      facts: [{ ...fact, currency } as Fact],
      ...(kind === 'create' && { next: nextOf(asked) })
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

  const prepare: Provider['prepare'] = ({ id, kind, amount, reference, payment }) => {
    const { id: paymentId, method, amount: total, currency } = payment
    return Buffer.from(JSON.stringify({ id, kind, amount, reference, paymentId, method, total, currency }))
  }
  const send = async (request: Buffer) => answer(JSON.parse(request.toString()))

  return {
    name: 'manual',
    methods: offeredMethods(settings),
    kind: 'offline',
    takes: () => true,
    capturable: 'remaining',
    keySeconds: Number.POSITIVE_INFINITY,
    prepare,
    send,
    fetch: async ({ id }) => ({ kind: 'done', paymentObjectId: id, facts: [] }),
    find: draft => send(prepare(draft))
  }
}
