import { createHmac, timingSafeEqual } from 'node:crypto'
import type { PaymentProvider } from 'cartwright'
import { factsOf, isAcmePayment } from './objects.ts'

const TOLERANCE_SECONDS = 300

export const signatureOf = (secret: string, seconds: number, raw: Buffer): string =>
  createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest('hex')

/** Acme Pay signs the time and the bytes of a callback, which contains an id and the payment. */
export const createAcmePayCallbacks = (secret: string): NonNullable<PaymentProvider['callbacks']> => ({
  verify: (raw, headers, now) => {
    const [, time, signature = ''] =
      /^(\d{1,12})\.([\da-f]{64})$/.exec(String(headers['acme-signature'])) ?? []
    if (time === undefined) return 'unsigned'
    const expected = Buffer.from(signatureOf(secret, Number(time), raw))
    if (secret === '' || !timingSafeEqual(expected, Buffer.from(signature))) return 'wrong'
    const age = now.getTime() / 1_000 - Number(time)
    if (age > TOLERANCE_SECONDS) return 'old'
    return age < -TOLERANCE_SECONDS ? 'future' : 'right'
  },
  read: raw => {
    const { id, type, payment } = parse(raw)
    if (typeof id !== 'string' || typeof type !== 'string' || !isAcmePayment(payment))
      return { kind: 'unreadable', error: 'the body is not an event with a payment' }
    return {
      kind: 'event',
      id,
      type,
      about: { orderId: null, paymentId: payment.reference, objectId: payment.id },
      whole: payment,
      facts: factsOf(payment)
    }
  }
})

function parse(raw: Buffer): { id?: unknown; type?: unknown; payment?: unknown } {
  try {
    return JSON.parse(raw.toString()) ?? {}
  } catch {
    return {}
  }
}
