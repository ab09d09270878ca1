import { found } from '../../../kernel/errors.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import {
  apiKeyInvalidError,
  apiKeyLimitReachedError,
  apiKeyNotFoundError,
  apiKeyScopesNotAllowedError
} from '../errors.ts'
import { apiKeyCreatedEvent } from '../events.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import type { SessionRevocationChannel } from '../sessions/revocations.ts'
import type { AccessTokenService } from '../tokens/access-tokens.ts'
import type { VerifiedTokenIdentity } from '../tokens/verify.ts'
import * as repository from './repository.ts'
import type { CreateApiKeyRequest } from './schema.ts'

type Deps = {
  db: Database
  secrets: Secrets
  accessTokens: AccessTokenService
  revocations: SessionRevocationChannel
  emit: Emit
  keysMax: number
}
type KeyOwner = Pick<VerifiedTokenIdentity, 'userId'>
type KeyCreator = Pick<VerifiedTokenIdentity, 'userId' | 'scopes'>

const PURPOSE = 'auth.api_key'
const DAYS = 365

/** Manages API keys of administrators, which programs exchange for access tokens. */
export function createApiKeyService(deps: Deps) {
  const { db, secrets, accessTokens, revocations, emit, keysMax } = deps
  /** Derives the key from the id, so that a retry gets the same key although only its hash is stored. */
  const keysOf = (id: string) => secrets.everyMac(PURPOSE, id).map(mac => `ak_${mac}`)

  return {
    /**
     * Creates a key. Only this response contains it.
     * @throws `AUTH_API_KEY_SCOPES`, `AUTH_API_KEY_LIMIT`.
     */
    async create(
      caller: KeyCreator,
      { name, scopes = null, expires_in_days: days = DAYS }: CreateApiKeyRequest,
      write: IdempotentWrite
    ) {
      const { userId, scopes: own } = caller
      const missing = own === null ? [] : (scopes ?? []).filter(scope => !own.includes(scope))
      if (missing.length > 0) throw apiKeyScopesNotAllowedError({ details: { missing } })
      const { id } = write
      const keyHash = hashSecret(keysOf(id)[0] as string)
      await write.once(db, async tx => {
        await tx.run(repository.insertApiKey, { id, userId, keyHash, name, scopes, days })
        const { total } = found(
          await tx.first(repository.countApiKeysOfUser, { userId }),
          apiKeyNotFoundError
        )
        if (total > keysMax) throw apiKeyLimitReachedError({ details: { limit: keysMax } })
        emit(tx, apiKeyCreatedEvent, userId, { user_id: userId, api_key_id: id, name })
      })
      const row = await db.first(repository.findApiKey, { id, userId })
      const { key_hash: stored, ...made } = found(row, apiKeyNotFoundError)
      const api_key = keysOf(id).find(each => stored.equals(hashSecret(each)))
      return { ...made, api_key: found(api_key, apiKeyNotFoundError) }
    },

    list: ({ userId }: KeyOwner, query: PageQuery) =>
      readPage(query, {
        ...newestFirst,
        name: 'api keys',
        filters: userId,
        rows: page => db.rows(repository.listApiKeysOfUser, { userId, ...page }),
        total: () => db.first(repository.countApiKeysOfUser, { userId })
      }),

    /** Deletes a key and revokes its tokens, in all processes within a second. @throws `AUTH_API_KEY_NOT_FOUND`. */
    async revoke({ userId }: KeyOwner, id: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteApiKey, { id, userId })) === 0) throw apiKeyNotFoundError()
        await revocations.announce(tx, userId)
      })
    },

    /** Exchanges an API key for an access token. @throws `AUTH_INVALID_API_KEY`, whatever the reason. */
    async exchange(text: string) {
      const key = found(
        await db.first(repository.findApiKeyAndRecordUse, { keyHash: hashSecret(text) }),
        apiKeyInvalidError
      )
      const ids = { id: key.id, userId: key.user_id }
      const rights = found(await db.first(repository.findApiKeyPermissions, ids), apiKeyInvalidError)
      const { token, seconds } = await accessTokens.issueForKey({ ...ids, ...rights })
      return { access_token: token, token_type: 'Bearer' as const, expires_in: seconds }
    }
  }
}
export type ApiKeyService = ReturnType<typeof createApiKeyService>
