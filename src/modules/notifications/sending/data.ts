import type { Fault } from '../../../kernel/faults.ts'
import { isId } from '../../../kernel/ids.ts'
import type { OrderLetter } from '../../orders/index.ts'
import type { TemplateName } from '../templates/catalogue.ts'

type Need = {
  /** What has to be sent, and nothing else: all of it ids. */
  readonly takes: readonly ('order_id' | 'shipment_id')[]
  /** Whether it is true of the order. */
  readonly isSo?: (letter: OrderLetter) => boolean
}

/** What can be asked for, and what has to be known for it. All else is told when it happens, and then alone. */
export const SENDABLE: Readonly<Partial<Record<TemplateName, Need>>> = {
  welcome: { takes: [] },
  order_placed: {
    takes: ['order_id'],
    isSo: ({ state }) => state === 'placed' || state === 'completed'
  },
  order_paid: { takes: ['order_id'], isSo: ({ payment_status }) => payment_status === 'paid' },
  order_shipped: { takes: ['order_id', 'shipment_id'] },
  order_canceled: { takes: ['order_id'], isSo: ({ state }) => state === 'canceled' }
}

export type SentData = { readonly order_id?: string; readonly shipment_id?: string }

/** What is wrong with the data for a template. */
export function faultsOf({ takes }: Need, data: Readonly<Record<string, unknown>>): Fault[] {
  const missing = takes
    .filter(name => typeof data[name] !== 'string' || !isId(data[name]))
    .map(name => ({ path: `body/data/${name}`, message: 'must be an id' }))
  const unknown = Object.keys(data)
    .filter(name => !takes.some(taken => taken === name))
    .map(name => ({ path: `body/data/${name.slice(0, 64)}`, message: 'is not known to this template' }))
  return [...missing, ...unknown].slice(0, 20)
}
