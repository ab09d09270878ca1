import { normalizeEmail } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { lowestIdAt } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { notificationNotFoundError, notificationStatusForbidsError } from '../errors.ts'
import { sendNotificationJob } from '../messages/job.ts'
import type { NotificationStatus } from '../messages/repository.ts'
import * as repository from '../messages/repository.ts'
import type { AdminNotificationResponse, AdminNotificationSummary, NotificationListQuery } from './schema.ts'

/** Longer than the first attempt to send a message takes, even when another process has to repeat it. */
const FIRST_ATTEMPT_MS_MAX = 300_000

type Deps = { db: Database; enqueue: Enqueue; giveUpSeconds: number }

/** Lists, retries and cancels messages for administrators. */
export function createNotificationAdministration({ db, enqueue, giveUpSeconds }: Deps) {
  /** @throws `NOTIFICATION_NOT_FOUND` */
  const read = async (id: string): Promise<AdminNotificationResponse> =>
    found(await db.first(repository.findNotification, { id }), notificationNotFoundError)

  /** Locks a message and returns its turn. @throws `NOTIFICATION_NOT_FOUND`, `NOTIFICATION_STATUS_FORBIDS` */
  async function lock(tx: Transaction, id: string, allowed: readonly NotificationStatus[]): Promise<number> {
    const { status, turn } = found(
      await tx.first(repository.lockNotification, { id }),
      notificationNotFoundError
    )
    if (!allowed.includes(status))
      throw notificationStatusForbidsError({ details: { message_status: status } })
    return turn
  }

  return {
    read,
    list: ({
      limit,
      cursor,
      count,
      ...query
    }: NotificationListQuery): Promise<Page<AdminNotificationSummary>> => {
      const { status = null, template = null, recipient } = query
      const address = recipient === undefined ? null : normalizeEmail(recipient)
      const recent = lowestIdAt(new Date(Date.now() - FIRST_ATTEMPT_MS_MAX))
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
          rows: place => db.rows(repository.listNotifications, { ...filters, ...place, recent }),
          total: () => db.first(repository.countNotifications, { ...filters, recent })
        }
      )
    },
    /** Sends a dead or pending message immediately, with the retry period of a new one. */
    retry: async (id: string, write: IdempotentWrite): Promise<AdminNotificationResponse> => {
      await write.once(db, async tx => {
        const turn = await lock(tx, id, ['dead', 'pending'])
        await tx.run(repository.retryNotification, { id, seconds: giveUpSeconds })
        enqueue(tx, sendNotificationJob, { message_id: id, turn: turn + 1 })
      })
      return read(id)
    },
    /** Cancels a pending message. A mail that is being sent at the moment may still arrive. */
    cancel: async (id: string, write: IdempotentWrite): Promise<AdminNotificationResponse> => {
      await write.once(db, async tx => {
        await lock(tx, id, ['pending'])
        await tx.run(repository.cancelNotification, { id })
      })
      return read(id)
    }
  }
}
export type NotificationAdministration = ReturnType<typeof createNotificationAdministration>
