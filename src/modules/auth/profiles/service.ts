import { found } from '../../../kernel/errors.ts'
import { normalizeMetadataChange } from '../../../kernel/metadata.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { invalidAccessTokenError } from '../errors.ts'
import * as users from '../users/repository.ts'
import type { UserResponse, UserRole } from '../users/schema.ts'
import * as repository from './repository.ts'
import { requireValidLocale, requireValidPhone } from './rules.ts'
import type { UpdateAccountRequest } from './schema.ts'

/** The caller: user id and role from the access token. */
type Caller = { userId: string; role: UserRole }

/** Reads and updates the caller's profile. */
export function createProfileService({ db }: { db: Database }) {
  /** Returns the caller's account. The role comes from the token, because external issuers grant it there. */
  async function read({ userId: id, role }: Caller): Promise<UserResponse> {
    const user = found(await db.first(users.findUser, { id }), invalidAccessTokenError)
    return { ...users.selectPublicUserFields(user), role }
  }

  return {
    read,

    /** @throws `AUTH_PHONE_INVALID`, `AUTH_LOCALE_INVALID`, `METADATA_LIMIT`. */
    async update(caller: Caller, body: UpdateAccountRequest, write: IdempotentWrite): Promise<UserResponse> {
      const { phone, locale, metadata = {} } = body
      const normalised = {
        ...(phone !== undefined && { phone: phone && requireValidPhone(phone) }),
        ...(locale !== undefined && { locale: locale && requireValidLocale(locale) })
      }
      await write.once(db, async tx => {
        const present = found(
          await tx.first(repository.lockUserProfile, { id: caller.userId }),
          invalidAccessTokenError
        )
        const changed = { ...present, ...body, ...normalised, metadata: normalizeMetadataChange(metadata) }
        await tx.run(repository.updateUserProfile, { ...changed, id: caller.userId })
      })
      return read(caller)
    }
  }
}
export type ProfileService = ReturnType<typeof createProfileService>
