import { defineJob } from '../../../kernel/events.ts'
import { Id } from '../../../kernel/wire.ts'

export const sendOperation = defineJob(
  'payments.send_operation',
  { description: 'Asks a provider for what a transaction decided.', seconds: 30, asksOthers: true },
  { operation_id: Id }
)
export const reconcile = defineJob(
  'payments.reconcile',
  {
    description:
      'Asks again what no provider has answered, and looks again at events that nothing was known for.',
    seconds: 30,
    everySeconds: 5,
    asksOthers: true
  },
  {}
)
export const watchExpiry = defineJob(
  'payments.watch_expiry',
  {
    description: 'Says what is held and runs out within a day, or takes it.',
    seconds: 60,
    everySeconds: 600
  },
  {}
)
export const applyEvent = defineJob(
  'payments.apply_event',
  { description: 'Applies what a provider called back with.', seconds: 20 },
  { id: Id }
)
