import type { Static } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'
import { writtenFields } from '../reviews/texts.ts'

export const ReviewRequest = request('ReviewRequest', writtenFields)
export type ReviewRequest = Static<typeof ReviewRequest>
