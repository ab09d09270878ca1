import type { FastifyReply } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { AdminVariantResponse, CreateVariantRequest, UpdateVariantRequest } from './schema.ts'
import type { VariantService, VersionedVariant } from './service.ts'

const tags = ['catalog']
const config = { class: 'account' } as const

/** Their ETag is the version of the product. */
export function variantRoutes(tiers: Tiers, variants: VariantService): void {
  tiers.admin.post(
    '/catalog/products/:id/variants',
    {
      config,
      schema: {
        tags,
        summary: 'Add a variant to a product',
        params: IdParams,
        body: CreateVariantRequest,
        response: { 201: AdminVariantResponse }
      }
    },
    async (request, reply) =>
      send(reply.code(201), await variants.create(request.params.id, request.body, writeOf(request)))
  )

  tiers.admin.patch(
    '/catalog/variants/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change a variant',
        params: IdParams,
        body: UpdateVariantRequest,
        response: { 200: AdminVariantResponse }
      }
    },
    async (request, reply) =>
      send(reply, await variants.patch(request.params.id, request.body, writeOf(request)))
  )

  tiers.admin.delete(
    '/catalog/variants/:id',
    {
      config,
      schema: { tags, summary: 'Delete a variant', params: IdParams, response: { 204: Type.Null() } }
    },
    async (request, reply) => {
      await variants.remove(request.params.id, writeOf(request))
      return reply.code(204).send(null)
    }
  )
}

const send = (reply: FastifyReply, { variant, version }: VersionedVariant) =>
  reply.header('etag', `"${version}"`).send(variant)
