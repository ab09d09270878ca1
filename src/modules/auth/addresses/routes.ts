import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { AddressService } from './service.ts'

const config = { class: 'account' } as const

export function addressRoutes(tiers: Tiers, addresses: AddressService): void {
  tiers.secured.get(
    '/auth/addresses',
    {
      config,
      schema: {
        summary: "List the caller's addresses",
        description: 'Returns the saved addresses of the caller, the newest first.',
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
        description:
          'Saves an address of the caller. The first address becomes the default for shipping and billing ' +
          'unless the request sets these fields. 400 `AUTH_ADDRESS_INVALID`: `errors` lists the wrong ' +
          'fields. 409 `AUTH_ADDRESS_LIMIT`: delete an address first; `limit` is the maximum.',
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
        summary: 'Retrieve an address',
        description:
          'Returns one saved address of the caller. 404 `AUTH_ADDRESS_NOT_FOUND`: the caller has no address ' +
          'with this id.',
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
        summary: 'Update an address',
        description:
          'Changes the sent fields. A sent `address` replaces the whole address. A new default replaces the ' +
          'old one. 412 `AUTH_ADDRESS_STALE`: the version in `If-Match` is old; read the address again. 400 ' +
          '`AUTH_ADDRESS_INVALID`: `errors` lists the wrong fields.',
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
      schema: {
        summary: 'Delete an address',
        description:
          'Deletes one saved address of the caller. Orders keep their own copy. 404 ' +
          '`AUTH_ADDRESS_NOT_FOUND`: the caller has no address with this id. 412 `AUTH_ADDRESS_STALE`: the ' +
          'version in `If-Match` is old; read the address again.',
        params: IdParams,
        response: noContent
      }
    },
    request => addresses.remove(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
