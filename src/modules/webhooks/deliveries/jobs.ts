import { defineJob } from '../../../kernel/events.ts'
import { Id } from '../../../kernel/wire.ts'
import { ENDPOINTS_MAX } from '../settings.ts'

/** After so long the rest is left to the next time. */
export const RUN_MS_MAX = 60_000

export const sendDue = defineJob(
  'webhooks.send_due',
  {
    description: 'Sends an endpoint what waits for it.',
    // Longer than what is begun at the end may take.
    seconds: 100,
    asksOthers: true,
    atOnce: ENDPOINTS_MAX
  },
  { endpoint_id: Id }
)
export const findDue = defineJob(
  'webhooks.find_due',
  { description: 'Finds endpoints that are to be sent something again.', seconds: 10, everySeconds: 5 },
  {}
)
