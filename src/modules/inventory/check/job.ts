import { defineJob } from '../../../kernel/events.ts'
import type { Log } from '../../../platform/log.ts'
import type { CheckService } from './service.ts'

const DAY_SECONDS = 86_400

export const checkBooks = defineJob(
  'inventory.check_books',
  {
    description: 'Counts where the books of the stock contradict each other.',
    seconds: 3_600,
    everySeconds: DAY_SECONDS
  },
  {}
)

/** What is found is for somebody to look at: nothing is repaired unasked. */
export async function checkDaily(
  { count }: Pick<CheckService, 'count'>,
  log: Log,
  signal: AbortSignal
): Promise<void> {
  const { total, counts } = await count(signal)
  if (total > 0)
    log.warn({ total, ...Object.fromEntries(counts) }, 'the books of the stock contradict each other')
}
