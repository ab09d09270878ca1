import type { FieldFault } from '../../../kernel/faults.ts'
import { isId } from '../../../kernel/ids.ts'
import type { OrderMessageSummary } from '../../orders/index.ts'
import type { MailTemplateName } from '../templates/definitions.ts'

type SendableTemplate = {
  /** Exactly the ids that `data` of the request must have. */
  readonly requiredIds: readonly ('order_id' | 'shipment_id')[]
  /** Whether the content of the template is true for the order. */
  readonly matchesOrder?: (order: OrderMessageSummary) => boolean
}

/** Templates that a request may send. All others are sent only when their event happens. */
export const SENDABLE_MAIL_TEMPLATES: Readonly<Partial<Record<MailTemplateName, SendableTemplate>>> = {
  welcome: { requiredIds: [] },
  order_placed: {
    requiredIds: ['order_id'],
    matchesOrder: ({ state }) => state === 'placed' || state === 'completed'
  },
  order_paid: {
    requiredIds: ['order_id'],
    matchesOrder: ({ payment_status }) => payment_status === 'paid'
  },
  order_shipped: { requiredIds: ['order_id', 'shipment_id'] },
  order_canceled: { requiredIds: ['order_id'], matchesOrder: ({ state }) => state === 'canceled' }
}

export type SendNotificationRequestData = { readonly order_id?: string; readonly shipment_id?: string }

/** Returns the faults of `data`: ids that are missing, and members that the template does not use. */
export function validateNotificationData(
  { requiredIds }: SendableTemplate,
  data: Readonly<Record<string, unknown>>
): FieldFault[] {
  const missing = requiredIds
    .filter(name => typeof data[name] !== 'string' || !isId(data[name]))
    .map(name => ({ path: `body/data/${name}`, message: 'must be an id' }))
  const unknown = Object.keys(data)
    .filter(name => !requiredIds.some(required => required === name))
    .map(name => ({ path: `body/data/${name.slice(0, 64)}`, message: 'is not known to this template' }))
  return [...missing, ...unknown].slice(0, 20)
}
