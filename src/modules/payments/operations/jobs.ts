import { defineJob } from '../../../kernel/events.ts'
import { Id } from '../../../kernel/wire.ts'

export const sendPaymentOperationJob = defineJob(
  'payments.send_operation',
  {
    description: 'Sends an operation to a payment provider.',
    timeoutSeconds: 30,
    callsExternalService: true
  },
  { operation_id: Id }
)
export const reconcilePaymentsJob = defineJob(
  'payments.reconcile',
  {
    description:
      'Repeats operations without a result, polls open payments, and applies events whose payment was unknown.',
    timeoutSeconds: 30,
    intervalSeconds: 5,
    callsExternalService: true
  },
  {}
)
export const watchAuthorizationExpiryJob = defineJob(
  'payments.watch_expiry',
  {
    description: 'Reports authorizations that expire within a day, or captures them.',
    timeoutSeconds: 60,
    intervalSeconds: 600
  },
  {}
)
export const applyProviderEventJob = defineJob(
  'payments.apply_event',
  { description: 'Applies a callback of a payment provider.', timeoutSeconds: 20 },
  { id: Id }
)
