import { normalizeAddress, type PostalAddress } from '../../../kernel/address.ts'
import { found } from '../../../kernel/errors.ts'
import { normalizeMetadataChange } from '../../../kernel/metadata.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  addressInvalidError,
  addressLimitReachedError,
  addressNotFoundError,
  addressStaleError,
  invalidAccessTokenError
} from '../errors.ts'
import * as repository from './repository.ts'
import type { AddAddressRequest, SavedAddressResponse, UpdateAddressRequest } from './schema.ts'

/** Manages the saved addresses of an account. */
export function createAddressService({ db, addressesMax }: { db: Database; addressesMax: number }) {
  const lock = async (tx: Transaction, userId: string) =>
    found(await tx.first(repository.lockUserAddresses, { userId }), invalidAccessTokenError)

  /**
   * Finds an address of the caller. @throws `AUTH_ADDRESS_NOT_FOUND` when the address does not exist or
   * belongs to another user.
   */
  const read = async (userId: string, id: string): Promise<SavedAddressResponse> =>
    found(await db.first(repository.findAddressOfUser, { id, userId }), addressNotFoundError)

  return {
    read,

    list: (userId: string, query: PageQuery) =>
      readPage(query, {
        ...newestFirst,
        name: 'addresses',
        filters: userId,
        rows: place => db.rows(repository.listAddresses, { userId, ...place }),
        total: () => db.first(repository.countAddresses, { userId })
      }),

    /** Adds an address. The first one is the default for shipping and billing. @throws `AUTH_ADDRESS_INVALID`, `AUTH_ADDRESS_LIMIT`. */
    async add(
      userId: string,
      body: AddAddressRequest,
      write: IdempotentWrite
    ): Promise<SavedAddressResponse> {
      const { id } = write
      const address = validAddress(body.address)
      const metadata = normalizeMetadataChange(body.metadata ?? {})
      await write.once(db, async tx => {
        await lock(tx, userId)
        const { total } = found(
          await tx.first(repository.countAddresses, { userId }),
          invalidAccessTokenError
        )
        if (total >= addressesMax) throw addressLimitReachedError({ details: { limit: addressesMax } })
        const { default_shipping = total === 0, default_billing = total === 0 } = body
        const defaults = { shipping: default_shipping, billing: default_billing }
        await tx.run(repository.clearOtherDefaultAddresses, { id, userId, ...defaults })
        await tx.run(repository.insertAddress, { id, userId, address, ...defaults, metadata })
      })
      return read(userId, id)
    },

    /** @throws `AUTH_ADDRESS_NOT_FOUND`, `AUTH_ADDRESS_INVALID`, `AUTH_ADDRESS_STALE`. */
    async update(
      userId: string,
      id: string,
      body: UpdateAddressRequest,
      write: IdempotentWrite
    ): Promise<SavedAddressResponse> {
      const address = body.address && validAddress(body.address)
      const metadata = normalizeMetadataChange(body.metadata ?? {})
      await write.once(db, async tx => {
        await lock(tx, userId)
        const present = found(
          await tx.first(repository.findAddressOfUser, { id, userId }),
          addressNotFoundError
        )
        write.expect(present.version, addressStaleError)
        if (isEmptyPatch(body)) return
        const { default_shipping: shipping, default_billing: billing } = { ...present, ...body }
        await tx.run(repository.clearOtherDefaultAddresses, { id, userId, shipping, billing })
        const next = { address: address ?? present.address, shipping, billing, metadata }
        await tx.run(repository.updateAddress, { id, ...next })
      })
      return read(userId, id)
    },

    /** @throws `AUTH_ADDRESS_NOT_FOUND`, `AUTH_ADDRESS_STALE`. */
    async remove(userId: string, id: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, async tx => {
        await lock(tx, userId)
        const present = found(
          await tx.first(repository.findAddressOfUser, { id, userId }),
          addressNotFoundError
        )
        write.expect(present.version, addressStaleError)
        await tx.run(repository.deleteAddress, { id })
      })
    }
  }
}
export type AddressService = ReturnType<typeof createAddressService>

function validAddress(sent: PostalAddress): PostalAddress {
  const { address, faults: errors } = normalizeAddress(sent, 'body/address')
  if (errors.length > 0) throw addressInvalidError({ details: { errors } })
  return address
}
