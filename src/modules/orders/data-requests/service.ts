import { found } from '../../../kernel/errors.ts'
import { derivedId, FIRST_ID } from '../../../kernel/ids.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit, Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { dataRequestInvalid } from '../errors.ts'
import { dataRequested } from '../events.ts'
import type { GuestData } from '../guest-data/service.ts'
import { openDataRequest } from './job.ts'
import * as repository from './repository.ts'
import type { DataRequestConfirmedResponse, DataRequestRequest } from './schema.ts'
import { dataRequestIn, dataRequestToken } from './token.ts'

const LINK_SECONDS = 86_400
/** Links that an address gets within a day. */
const A_DAY_MAX = 3

/** What a mail with the link needs. */
export type DataRequestLink = {
  readonly email: string
  readonly action: repository.DataAction
  readonly token: string
  readonly expiresAt: Date
}
type Deps = {
  db: Database
  emit: Emit
  enqueue: Enqueue
  secrets: Secrets
  guestData: Pick<GuestData, 'ordersOf' | 'erase' | 'export'>
}

/** Lets a guest see or erase their data, once they have proven by a mailed link that the address is theirs. */
export function createDataRequests({ db, emit, enqueue, secrets, guestData }: Deps) {
  const find = (on: Queryable, id: string) => on.first(repository.findRequest, { id, seconds: LINK_SECONDS })

  return {
    /** Does the same work for every address, known or not. */
    async request({ email, action }: DataRequestRequest, write: Write): Promise<{ expires_in: number }> {
      const subject = derivedId(FIRST_ID, email.trim().toLowerCase())
      await write.once(db, async tx =>
        enqueue(tx, openDataRequest, { email: email.trim(), action }, { subject })
      )
      return { expires_in: LINK_SECONDS }
    },

    /** `id`: of the job. Has a link sent where guests have ordered with this address. */
    async open(id: string, { email, action }: DataRequestRequest): Promise<void> {
      const [order] = await guestData.ordersOf(email)
      // The mail goes to the address as it was ordered with.
      const address = order?.email
      if (address == null) return
      await db.transaction(async tx => {
        const request = { id, email: address, action, most: A_DAY_MAX }
        if ((await tx.first(repository.insertRequest, request)) === undefined) return
        emit(tx, dataRequested, id, { request_id: id })
      })
    },

    /** See `OrdersApi.dataRequest`. */
    async link(on: Queryable, id: string): Promise<DataRequestLink | undefined> {
      const row = await find(on, id)
      if (row === undefined) return undefined
      const expiresAt = new Date(row.created_at.getTime() + LINK_SECONDS * 1_000)
      return { email: row.email, action: row.action, token: dataRequestToken(secrets, id), expiresAt }
    },

    /** @throws `ORDER_DATA_REQUEST_INVALID`, `ORDER_STILL_OPEN` */
    async confirm(token: string, write: Write): Promise<DataRequestConfirmedResponse> {
      const id = found(dataRequestIn(secrets, token), dataRequestInvalid)
      const { email, action } = found(await find(db, id), dataRequestInvalid)
      if (action === 'export') {
        const { orders, parts } = await guestData.export({ email })
        return { action, orders, parts }
      }
      const { orders } = await guestData.erase({ email }, write, async tx => {
        const used = await tx.run(repository.useRequest, { id, at: new Date() })
        if (used === 0) throw dataRequestInvalid()
      })
      return { action, orders, parts: null }
    },

    deleteOld: () => db.run(repository.deleteOldRequests, { seconds: LINK_SECONDS })
  }
}
export type DataRequests = ReturnType<typeof createDataRequests>
