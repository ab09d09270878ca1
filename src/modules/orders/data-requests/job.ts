import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'

/** The request for it is answered before anything is looked up, so that its time says nothing about an address. */
export const openDataRequest = defineJob(
  'orders.open_data_request',
  { description: 'Sends a guest the link by which they see or erase their data.', seconds: 30 },
  { email: Type.String(), action: Type.Enum(['export', 'erase']) }
)
