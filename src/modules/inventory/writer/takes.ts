import type { Transaction } from '../../../platform/postgres/database.ts'
import type { RequestOutcome, Waiting } from '../requests/requests.ts'
import type { Tell } from './batch.ts'
import { addContested, deleteContested } from './repository.ts'

/**
 * Says in the transaction of a batch what became of takes: their owners contest nothing any more, and what others lost they contest
 * from now on. Each of these orders is told.
 */
export async function settleTakes(
  tx: Transaction,
  tell: Pick<Tell, 'taken' | 'lost'>,
  requests: readonly Waiting[],
  outcomes: readonly RequestOutcome[]
): Promise<void> {
  const owners: string[] = []
  const lost: { owner: string; itemId: string; quantity: number }[] = []
  for (const [index, { operation }] of requests.entries()) {
    if (operation.kind !== 'take') continue
    const outcome = outcomes[index]
    tell.taken(tx, operation, outcome?.kind === 'took')
    if (outcome?.kind !== 'took') continue
    owners.push(operation.owner)
    for (const loss of outcome.lost) {
      tell.lost(tx, loss)
      lost.push(...loss.parts.map(part => ({ owner: loss.owner, ...part })))
    }
  }
  if (owners.length > 0) await tx.run(deleteContested, { owners })
  if (lost.length > 0)
    await tx.run(addContested, {
      owners: lost.map(({ owner }) => owner),
      itemIds: lost.map(({ itemId }) => itemId),
      quantities: lost.map(({ quantity }) => quantity)
    })
}
