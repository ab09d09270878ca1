import { normaliseEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { messageNotFound, statusForbids } from '../errors.ts'
import { sendMessage } from '../messages/job.ts'
import type { MessageStatus } from '../messages/repository.ts'
import * as repository from '../messages/repository.ts'
import type { MessageQuery, MessageResponse, MessageSummary } from './schema.ts'

type Deps = { db: Database; enqueue: Enqueue; giveUpSeconds: number }

/** Lists, retries and cancels messages for administrators. */
export function createMessageAdministration({ db, enqueue, giveUpSeconds }: Deps) {
  /** @throws `NOTIFICATION_NOT_FOUND` */
  const read = async (id: string): Promise<MessageResponse> =>
    found(await db.first(repository.findMessage, { id }), messageNotFound)

  /** Locks a message and returns its turn. @throws `NOTIFICATION_NOT_FOUND`, `NOTIFICATION_STATUS_FORBIDS` */
  async function lock(tx: Transaction, id: string, allowed: readonly MessageStatus[]): Promise<number> {
    const { status, turn } = found(await tx.first(repository.lockMessage, { id }), messageNotFound)
    if (!allowed.includes(status)) throw statusForbids({ details: { message_status: status } })
    return turn
  }

  return {
    read,
    list: ({ limit, cursor, count, ...query }: MessageQuery): Promise<Page<MessageSummary>> => {
      const { status = null, template = null, recipient } = query
      const address = recipient === undefined ? null : normaliseEmail(recipient)
      const filters = { status, template, recipient: address }
      return readPage(
        {
          ...(limit !== undefined && { limit }),
          ...(cursor !== undefined && { cursor }),
          ...(count !== undefined && { count })
        },
        {
          name: 'notifications',
          filters,
          ...newestFirst,
          rows: place => db.rows(repository.listMessages, { ...filters, ...place }),
          total: () => db.first(repository.countMessages, filters)
        }
      )
    },
    /** Sends a dead or pending message immediately, with the retry period of a new one. */
    retry: async (id: string, write: IdempotentWrite): Promise<MessageResponse> => {
      await write.once(db, async tx => {
        const turn = await lock(tx, id, ['dead', 'pending'])
        await tx.run(repository.retryMessage, { id, seconds: giveUpSeconds })
        enqueue(tx, sendMessage, { message_id: id, turn: turn + 1 })
      })
      return read(id)
    },
    /** Cancels a pending message. A mail that is being sent at the moment may still arrive. */
    cancel: async (id: string, write: IdempotentWrite): Promise<MessageResponse> => {
      await write.once(db, async tx => {
        await lock(tx, id, ['pending'])
        await tx.run(repository.cancelMessage, { id })
      })
      return read(id)
    }
  }
}
export type MessageAdministration = ReturnType<typeof createMessageAdministration>
