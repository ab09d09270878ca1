import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { ask, count, insist, type Person } from './book.ts'

const PAUSE_MS = 100
const PAYMENTS = '/api/admin/payments'
const ORDERS = '/api/admin/orders'
const TWICE_SHARE = 0.3
const REASON = 'it was broken'

type Administrator = Person & { token: string }
type Deed = { path: string; body: object }
type Payment = { id: string; provider: string; status: string; captured: number; refunded: number }
type Order = { id: string; total: number }

/** Takes what is held, sends, cancels, gives money back, and lets go, sometimes twice at once, until told to stop. */
export async function administer(person: Administrator): Promise<void> {
  const { book, dice, token } = person
  while (!book.stopping) {
    await delay(PAUSE_MS)
    const deeds = dice.chance(0.5)
      ? (await list<Payment>(person, PAYMENTS)).flatMap(each => deedOf(person, each) ?? [])
      : (await list<Order>(person, ORDERS)).map(each => orderDeedOf(person, each))
    if (deeds.length === 0) continue
    const { path, body } = dice.of(deeds)
    const send = async () => {
      const answer = await insist(person, newId(), { method: 'POST', path, token, body })
      const said = answer === undefined || answer.status < 300 ? answer?.status : answer.json?.code
      count(book, `administrators, ${path.replace(/^.api.admin.|[0-9a-f-]{36}./g, '')}: ${said}`)
    }
    await Promise.all(Array.from({ length: dice.chance(TWICE_SHARE) ? 2 : 1 }, send))
  }
}

async function list<T>(person: Administrator, path: string): Promise<T[]> {
  const answer = await ask(person, { method: 'GET', path: `${path}?limit=20`, token: person.token })
  return answer?.status === 200 ? answer.json.items : []
}

function orderDeedOf({ dice }: Person, { id, total }: Order): Deed {
  const lines = [{ line: 1, quantity: 1 }]
  const deeds: Readonly<Record<string, object>> = {
    cancel: dice.chance(0.5) ? {} : { lines },
    shipments: dice.chance(0.5) ? {} : { lines },
    refunds: { reason: REASON, ...(dice.chance(0.5) ? { lines } : { amount: 1 + dice.below(total) }) },
    returns: { lines }
  }
  const deed = dice.of(Object.keys(deeds))
  return { path: `${ORDERS}/${id}/${deed}`, body: deeds[deed] ?? {} }
}

function deedOf({ dice }: Person, { id, provider, status, captured, refunded }: Payment): Deed | undefined {
  const path = (verb: string) => `${PAYMENTS}/${id}/${verb}`
  const left = captured - refunded
  if (status === 'authorized') return { path: path(dice.chance(0.8) ? 'capture' : 'void'), body: {} }
  // A transfer has come.
  if (provider === 'manual' && status === 'pending') return { path: path('capture'), body: {} }
  if (left > 0 && dice.chance(0.3)) {
    const amount = dice.chance(0.5) ? left : 1 + dice.below(left)
    return { path: path('refund'), body: { amount, reason: REASON } }
  }
  return dice.chance(0.05) ? { path: path('void'), body: {} } : undefined
}
