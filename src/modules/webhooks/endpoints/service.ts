import { found } from '../../../kernel/errors.ts'
import { nearest } from '../../../kernel/nearest.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { changesNothing } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { HttpClient } from '../../../platform/http/client.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { DeliveryService } from '../deliveries/service.ts'
import { endpointNotFound, endpointStale, endpointsLimit, eventTypeUnknown, urlRefused } from '../errors.ts'
import type { Sealing } from '../signatures/sealing.ts'
import { makeSecret } from '../signatures/sign.ts'
import * as repository from './repository.ts'
import type {
  CreateEndpointRequest,
  EndpointResponse,
  EndpointSecretResponse,
  RotateSecretRequest,
  UpdateEndpointRequest
} from './schema.ts'

type Deps = {
  db: Database
  changes: Changes
  http: Pick<HttpClient, 'judge'>
  sealing: Sealing
  deliveries: Pick<DeliveryService, 'cancelAll' | 'wake'>
  endpointsMax: number
  /** The events that leave the shop. */
  eventTypes: readonly string[]
}

const OVERLAP_HOURS = 24
const FAULTS_SHOWN_MAX = 8

/** Where others are told what happens. */
export function createEndpointService(deps: Deps) {
  const { db, changes, http, sealing, deliveries, endpointsMax, eventTypes } = deps

  /** @throws `WEBHOOKS_EVENT_TYPE_UNKNOWN` */
  function refuseUnknown(names: readonly string[] | null): void {
    const errors = (names ?? []).flatMap((name, index) =>
      eventTypes.includes(name) ? [] : [{ path: `body/event_types/${index}`, message: unknownType(name) }]
    )
    if (errors.length > 0) throw eventTypeUnknown({ details: { errors: errors.slice(0, FAULTS_SHOWN_MAX) } })
  }

  function unknownType(name: string): string {
    const suggestion = nearest(name, eventTypes)
    const rule = 'must be the name of an event that webhooks send'
    return suggestion === undefined ? rule : `${rule}; did you mean "${suggestion}"?`
  }

  /** As it is kept. What its name means is judged again whenever a socket connects. @throws `WEBHOOKS_URL_REFUSED` */
  function readUrl(url: string): string {
    try {
      const target = http.judge({ url })
      target.hash = ''
      return target.href
    } catch (error) {
      const { name, message } = error as Error
      if (name !== 'OutboundRefused') throw error
      throw urlRefused({ details: { errors: [{ path: 'body/url', message }] } })
    }
  }

  async function hold(tx: Transaction, id: string, write: Write): Promise<repository.EndpointRow> {
    const stored = found(await tx.first(repository.lockEndpoint, { id }), endpointNotFound)
    write.expect(stored.version, endpointStale)
    return stored
  }

  /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND` */
  const read = async (id: string): Promise<EndpointResponse> =>
    found(await db.first(repository.findEndpoint, { id }), endpointNotFound)

  async function withSecret(id: string): Promise<EndpointSecretResponse> {
    const endpoint = await read(id)
    const { secret } = found(await db.first(repository.findSecret, { id }), endpointNotFound)
    return { ...endpoint, secret: sealing.open(secret) }
  }

  return {
    read,

    list: (query: PageQuery): Promise<Page<EndpointResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'webhook endpoints',
        rows: page => db.rows(repository.listEndpoints, page),
        total: () => db.first(repository.countEndpoints)
      }),

    /** @throws `WEBHOOKS_URL_REFUSED`, `WEBHOOKS_EVENT_TYPE_UNKNOWN`, `WEBHOOKS_ENDPOINTS_LIMIT` */
    create: async (body: CreateEndpointRequest, write: Write): Promise<EndpointSecretResponse> => {
      const { id } = write
      const { event_types = null, description = '', active = true } = body
      const url = readUrl(body.url)
      refuseUnknown(event_types)
      await write.once(db, async tx => {
        await tx.run(repository.lockEndpoints)
        const { total } = found(await tx.first(repository.countEndpoints), endpointNotFound)
        if (total >= endpointsMax) throw endpointsLimit({ details: { limit: endpointsMax } })
        const secret = sealing.seal(makeSecret())
        await tx.run(repository.insertEndpoint, { id, url, description, event_types, active, secret })
        changes.announce(tx)
      })
      return withSecret(id)
    },

    /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE`, and what `create` does */
    patch: async (id: string, body: UpdateEndpointRequest, write: Write): Promise<EndpointResponse> => {
      await write.once(db, async tx => {
        const stored = await hold(tx, id, write)
        if (changesNothing(body)) return
        refuseUnknown(body.event_types ?? null)
        const url = body.url === undefined ? stored.url : readUrl(body.url)
        const { description, event_types, active } = { ...stored, ...body }
        await tx.run(repository.updateEndpoint, { id, url, description, event_types, active })
        changes.announce(tx)
        // What has waited meanwhile.
        if (active && !stored.active) deliveries.wake(tx, [id])
      })
      return read(id)
    },

    /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE` */
    rotate: async (
      id: string,
      { overlap_hours = OVERLAP_HOURS }: RotateSecretRequest,
      write: Write
    ): Promise<EndpointSecretResponse> => {
      await write.once(db, async tx => {
        await hold(tx, id, write)
        await tx.run(repository.rotateSecret, { id, secret: sealing.seal(makeSecret()), overlap_hours })
      })
      return withSecret(id)
    },

    /** What waited for it is never sent. @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE` */
    remove: async (id: string, write: Write): Promise<void> => {
      await write.once(db, async tx => {
        await hold(tx, id, write)
        await deliveries.cancelAll(tx, id)
        await tx.run(repository.deleteEndpoint, { id })
        changes.announce(tx)
      })
    }
  }
}
export type EndpointService = ReturnType<typeof createEndpointService>
