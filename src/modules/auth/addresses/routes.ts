import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { Addresses } from './service.ts'

const config = { class: 'account' } as const

export function addressRoutes(tiers: Tiers, addresses: Addresses): void {
  tiers.secured.get(
    '/auth/addresses',
    {
      config,
      schema: {
        summary: 'List the own addresses',
        querystring: PageQuery,
        response: { 200: listOf(schema.SavedAddressResponse) }
      }
    },
    request => addresses.list(identityOf(request).userId, request.query)
  )
  tiers.secured.post(
    '/auth/addresses',
    {
      config,
      schema: {
        summary: 'Add an address',
        description: 'The first one is the default for shipping and billing.',
        body: schema.AddAddressRequest,
        response: { 201: schema.SavedAddressResponse }
      }
    },
    request => addresses.add(identityOf(request).userId, request.body, writeOf(request))
  )
  tiers.secured.get(
    '/auth/addresses/:id',
    {
      config,
      schema: {
        summary: 'Read one of the own addresses',
        params: IdParams,
        response: { 200: schema.SavedAddressResponse }
      }
    },
    request => addresses.read(identityOf(request).userId, request.params.id)
  )
  tiers.secured.patch(
    '/auth/addresses/:id',
    {
      config,
      schema: {
        summary: 'Change one of the own addresses',
        description: 'An `address` takes the place of the whole one before.',
        params: IdParams,
        body: schema.UpdateAddressRequest,
        response: { 200: schema.SavedAddressResponse }
      }
    },
    request => addresses.update(identityOf(request).userId, request.params.id, request.body, writeOf(request))
  )
  tiers.secured.delete(
    '/auth/addresses/:id',
    {
      config,
      schema: { summary: 'Remove one of the own addresses', params: IdParams, response: noContent }
    },
    request => addresses.remove(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
