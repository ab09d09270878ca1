import { defineJob } from '../../../kernel/events.ts'
import { Id } from '../../../kernel/wire.ts'
import { WEBHOOK_ENDPOINTS_MAX } from '../settings.ts'

/** A run of `webhooks.send_due` starts no request after this time. The next run sends the rest. */
export const WEBHOOK_SENDING_RUN_MS_MAX = 60_000

export const sendDueWebhooksJob = defineJob(
  'webhooks.send_due',
  {
    description: 'Sends the due deliveries of one endpoint.',
    // More than WEBHOOK_SENDING_RUN_MS_MAX and the timeout of one request.
    timeoutSeconds: 100,
    callsExternalService: true,
    concurrency: WEBHOOK_ENDPOINTS_MAX
  },
  { endpoint_id: Id }
)
export const findDueWebhooksJob = defineJob(
  'webhooks.find_due',
  {
    description: 'Finds endpoints with due deliveries and enqueues a send job for each.',
    timeoutSeconds: 10,
    intervalSeconds: 5
  },
  {}
)
