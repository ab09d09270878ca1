import { found } from '../../../kernel/errors.ts'
import { mostSimilarWord } from '../../../kernel/most-similar-word.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { HttpClient } from '../../../platform/http/client.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { WebhookDeliveryService } from '../deliveries/service.ts'
import {
  webhookEndpointLimitReachedError,
  webhookEndpointNotFoundError,
  webhookEndpointStaleError,
  webhookEventTypeUnknownError,
  webhookUrlRefusedError
} from '../errors.ts'
import type { WebhookSecretEncryption } from '../signatures/secret-encryption.ts'
import { createWebhookSigningSecret } from '../signatures/sign.ts'
import * as repository from './repository.ts'
import type {
  CreateWebhookEndpointRequest,
  RotateWebhookSecretRequest,
  UpdateWebhookEndpointRequest,
  WebhookEndpointResponse,
  WebhookEndpointSecretResponse
} from './schema.ts'

type Deps = {
  db: Database
  invalidation: CacheInvalidator
  http: Pick<HttpClient, 'judge'>
  secretEncryption: WebhookSecretEncryption
  deliveries: Pick<WebhookDeliveryService, 'cancelPending' | 'enqueueSending'>
  endpointsMax: number
  /** Names of the events that webhooks send. */
  eventTypes: readonly string[]
}

const OVERLAP_HOURS = 24
const ERRORS_MAX = 8

/** Manages the endpoints that webhooks are sent to. */
export function createWebhookEndpointService(deps: Deps) {
  const { db, invalidation, http, secretEncryption, deliveries, endpointsMax, eventTypes } = deps

  /** @throws `WEBHOOKS_EVENT_TYPE_UNKNOWN` */
  function assertEventTypes(names: readonly string[] | null): void {
    const errors = (names ?? []).flatMap((name, index) =>
      eventTypes.includes(name)
        ? []
        : [{ path: `body/event_types/${index}`, message: unknownTypeMessage(name) }]
    )
    if (errors.length > 0)
      throw webhookEventTypeUnknownError({ details: { errors: errors.slice(0, ERRORS_MAX) } })
  }

  function unknownTypeMessage(name: string): string {
    const suggestion = mostSimilarWord(name, eventTypes)
    const rule = 'must be the name of an event that webhooks send'
    return suggestion === undefined ? rule : `${rule}; did you mean "${suggestion}"?`
  }

  /**
   * Returns the URL as it is stored. The addresses of its host are checked again on every connection, because DNS may change.
   * @throws `WEBHOOKS_URL_REFUSED`
   */
  function normalizeUrl(url: string): string {
    try {
      const target = http.judge({ url })
      target.hash = ''
      return target.href
    } catch (error) {
      const { name, message } = error as Error
      if (name !== 'OutboundRefused') throw error
      throw webhookUrlRefusedError({ details: { errors: [{ path: 'body/url', message }] } })
    }
  }

  async function lock(
    tx: Transaction,
    id: string,
    write: IdempotentWrite
  ): Promise<repository.WebhookEndpointRow> {
    const stored = found(await tx.first(repository.lockWebhookEndpoint, { id }), webhookEndpointNotFoundError)
    write.expect(stored.version, webhookEndpointStaleError)
    return stored
  }

  /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND` */
  const read = async (id: string): Promise<WebhookEndpointResponse> =>
    found(await db.first(repository.findWebhookEndpoint, { id }), webhookEndpointNotFoundError)

  async function withSecret(id: string): Promise<WebhookEndpointSecretResponse> {
    const endpoint = await read(id)
    const { secret } = found(
      await db.first(repository.findWebhookSigningSecret, { id }),
      webhookEndpointNotFoundError
    )
    return { ...endpoint, secret: secretEncryption.decrypt(secret) }
  }

  return {
    read,

    list: (query: PageQuery): Promise<Page<WebhookEndpointResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'webhook endpoints',
        rows: page => db.rows(repository.listWebhookEndpoints, page),
        total: () => db.first(repository.countWebhookEndpoints)
      }),

    /** @throws `WEBHOOKS_URL_REFUSED`, `WEBHOOKS_EVENT_TYPE_UNKNOWN`, `WEBHOOKS_ENDPOINTS_LIMIT` */
    create: async (
      body: CreateWebhookEndpointRequest,
      write: IdempotentWrite
    ): Promise<WebhookEndpointSecretResponse> => {
      const { id } = write
      const { event_types = null, description = '', active = true } = body
      const url = normalizeUrl(body.url)
      assertEventTypes(event_types)
      await write.once(db, async tx => {
        await tx.run(repository.lockWebhookEndpointCreation)
        const { total } = found(
          await tx.first(repository.countWebhookEndpoints),
          webhookEndpointNotFoundError
        )
        if (total >= endpointsMax)
          throw webhookEndpointLimitReachedError({ details: { limit: endpointsMax } })
        const secret = secretEncryption.encrypt(createWebhookSigningSecret())
        await tx.run(repository.insertWebhookEndpoint, { id, url, description, event_types, active, secret })
        invalidation.publish(tx)
      })
      return withSecret(id)
    },

    /**
     * @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE`, `WEBHOOKS_URL_REFUSED`, `WEBHOOKS_EVENT_TYPE_UNKNOWN`
     */
    patch: async (
      id: string,
      body: UpdateWebhookEndpointRequest,
      write: IdempotentWrite
    ): Promise<WebhookEndpointResponse> => {
      await write.once(db, async tx => {
        const stored = await lock(tx, id, write)
        if (isEmptyPatch(body)) return
        assertEventTypes(body.event_types ?? null)
        const url = body.url === undefined ? stored.url : normalizeUrl(body.url)
        const { description, event_types, active } = { ...stored, ...body }
        await tx.run(repository.updateWebhookEndpoint, { id, url, description, event_types, active })
        invalidation.publish(tx)
        // Deliveries that were pending when the endpoint was disabled are due.
        if (active && !stored.active) deliveries.enqueueSending(tx, [id])
      })
      return read(id)
    },

    /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE` */
    rotate: async (
      id: string,
      { overlap_hours = OVERLAP_HOURS }: RotateWebhookSecretRequest,
      write: IdempotentWrite
    ): Promise<WebhookEndpointSecretResponse> => {
      await write.once(db, async tx => {
        await lock(tx, id, write)
        await tx.run(repository.rotateWebhookSigningSecret, {
          id,
          secret: secretEncryption.encrypt(createWebhookSigningSecret()),
          overlap_hours
        })
      })
      return withSecret(id)
    },

    /** Deletes an endpoint and cancels its pending deliveries. @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_STALE` */
    remove: async (id: string, write: IdempotentWrite): Promise<void> => {
      await write.once(db, async tx => {
        await lock(tx, id, write)
        await deliveries.cancelPending(tx, id)
        await tx.run(repository.deleteWebhookEndpoint, { id })
        invalidation.publish(tx)
      })
    }
  }
}
export type WebhookEndpointService = ReturnType<typeof createWebhookEndpointService>
