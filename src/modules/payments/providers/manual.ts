import type { Fact } from '../facts/fact.ts'
import type { Answer, Draft, NextStep, Provider } from './port.ts'

type Asked = Pick<Draft, 'id' | 'kind' | 'amount'> & {
  paymentId: string
  orderId: string
  method: string
  total: number
  currency: string
}

type Settings = { methods: readonly string[]; bankTransfer: string }

/**
 * Money that no program moves: bank transfers, cash on delivery, and orders on account. Nobody is asked anything; what an
 * administrator captures, voids or refunds has happened, and is a fact by that.
 */
export function createManualProvider({ methods, bankTransfer }: Settings): Provider {
  const nextOf = ({ method, orderId }: Asked): NextStep => ({
    action: {
      type: method,
      reference: orderId,
      text: method === 'bank_transfer' ? bankTransfer : ''
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

  const prepare: Provider['prepare'] = ({ id, kind, amount, payment }) => {
    const { id: paymentId, orderId, method, amount: total, currency } = payment
    return Buffer.from(JSON.stringify({ id, kind, amount, paymentId, orderId, method, total, currency }))
  }
  const send = async (request: Buffer) => answer(JSON.parse(request.toString()))

  return {
    name: 'manual',
    methods,
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
