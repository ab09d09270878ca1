import { found } from '../../../kernel/errors.ts'
import { derivedId, LOWEST_ID } from '../../../kernel/ids.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit, Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { dataRequestLinkInvalidError } from '../errors.ts'
import { dataRequestedEvent } from '../events.ts'
import { sendDataRequestLinkJob } from '../jobs.ts'
import * as repository from './data-request-repository.ts'
import type { DataRequestConfirmedResponse, DataRequestRequest } from './data-request-schema.ts'
import type { GuestDataService } from './guest-data-service.ts'

const LINK_SECONDS = 86_400
/** Maximum number of links per address and day. */
const A_DAY_MAX = 3

/** The content of the mail with the link to a guest's data. */
export type DataRequestMail = {
  readonly email: string
  readonly action: repository.DataRequestAction
  readonly token: string
  readonly expiresAt: Date
}
type Deps = {
  db: Database
  emit: Emit
  enqueue: Enqueue
  secrets: Secrets
  guestData: Pick<GuestDataService, 'ordersOf' | 'erase' | 'export'>
}

/**
 * Lets a guest see or erase their data, once they have proven by a mailed link that the address is theirs.
 */
export function createDataRequestService({ db, emit, enqueue, secrets, guestData }: Deps) {
  const find = (on: Queryable, id: string) =>
    on.first(repository.findOpenDataRequest, { id, seconds: LINK_SECONDS })

  return {
    /**
     * Enqueues a job for known and unknown addresses alike, so that the duration of the request reveals
     * nothing.
     */
    async request(
      { email, action }: DataRequestRequest,
      write: IdempotentWrite
    ): Promise<{ expires_in: number }> {
      const subject = derivedId(LOWEST_ID, email.trim().toLowerCase())
      await write.once(db, async tx =>
        enqueue(tx, sendDataRequestLinkJob, { email: email.trim(), action }, { subject })
      )
      return { expires_in: LINK_SECONDS }
    },

    /**
     * Sends a link if a guest has ordered with this address. `id`: the id of the job, which becomes the id of
     * the request.
     */
    async open(id: string, { email, action }: DataRequestRequest): Promise<void> {
      const [order] = await guestData.ordersOf(email)
      // The mail goes to the address of the order, because the request may spell it differently.
      const address = order?.email
      if (address == null) return
      await db.transaction(async tx => {
        const request = { id, email: address, action, most: A_DAY_MAX }
        if ((await tx.first(repository.insertDataRequest, request)) === undefined) return
        emit(tx, dataRequestedEvent, id, { request_id: id })
      })
    },

    /** See `OrdersApi.findDataRequest`. */
    async link(on: Queryable, id: string): Promise<DataRequestMail | undefined> {
      const row = await find(on, id)
      if (row === undefined) return undefined
      const expiresAt = new Date(row.created_at.getTime() + LINK_SECONDS * 1_000)
      return { email: row.email, action: row.action, token: deriveDataRequestToken(secrets, id), expiresAt }
    },

    /** @throws `ORDER_DATA_REQUEST_INVALID`, `ORDER_STILL_OPEN` */
    async confirm(token: string, write: IdempotentWrite): Promise<DataRequestConfirmedResponse> {
      const id = found(dataRequestIdIn(secrets, token), dataRequestLinkInvalidError)
      const { email, action } = found(await find(db, id), dataRequestLinkInvalidError)
      if (action === 'export') {
        const { orders, parts } = await guestData.export({ email })
        return { action, orders, parts }
      }
      const { orders } = await guestData.erase({ email }, write, async tx => {
        const used = await tx.run(repository.markDataRequestUsed, { id, at: new Date() })
        if (used === 0) throw dataRequestLinkInvalidError()
      })
      return { action, orders, parts: null }
    },

    deleteOld: () => db.run(repository.deleteOldDataRequests, { seconds: LINK_SECONDS })
  }
}
export type DataRequestService = ReturnType<typeof createDataRequestService>

const PURPOSE = 'orders.data_request_token'
const TOKEN = /^gdt_([0-9a-f-]{36})\.(.{1,100})$/

/** The token of the link: the id of the request and its MAC. Nothing is stored. */
export const deriveDataRequestToken = (secrets: Secrets, id: string): string =>
  `gdt_${id}.${secrets.mac(PURPOSE, id)}`

/** Returns the id of the data request in a valid token, otherwise `undefined`. */
function dataRequestIdIn(secrets: Secrets, token: string): string | undefined {
  const [, id = '', proof = ''] = TOKEN.exec(token) ?? []
  return secrets.verify(proof, PURPOSE, id) ? id : undefined
}
