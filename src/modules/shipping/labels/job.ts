import { defineJob } from '../../../kernel/events.ts'
import { Id } from '../../../kernel/wire.ts'

/** Buys or voids a label, as its row says. One job type for both, because runs of one subject never overlap. */
export const processLabelJob = defineJob(
  'shipping.process_label',
  {
    description: 'Buys or voids a shipping label at its provider.',
    timeoutSeconds: 60,
    callsExternalService: true,
    concurrency: 4
  },
  { label_id: Id }
)
