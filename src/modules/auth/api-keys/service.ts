import { found } from '../../../kernel/errors.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { apiKeyInvalid, apiKeyLimit, apiKeyNotFound, apiKeyScopes } from '../errors.ts'
import { apiKeyCreated } from '../events.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import type { Revocations } from '../sessions/revocations.ts'
import type { AccessTokens } from '../tokens/access-tokens.ts'
import type { Verified } from '../tokens/verify.ts'
import * as repository from './repository.ts'
import type { CreateApiKeyRequest } from './schema.ts'

type Deps = {
  db: Database
  secrets: Secrets
  accessTokens: AccessTokens
  revocations: Revocations
  emit: Emit
  keysMax: number
}
type Owner = Pick<Verified, 'userId'>
type Caller = Pick<Verified, 'userId' | 'scopes'>

const PURPOSE = 'auth.api_key'
const DAYS = 365

/** Keys of administrators' machines, which exchange them for tokens. */
export function createApiKeys(deps: Deps) {
  const { db, secrets, accessTokens, revocations, emit, keysMax } = deps
  /** Computed from the id, so that a request whose answer was lost gets the same one again, which lies nowhere. */
  const keysOf = (id: string) => secrets.everyMac(PURPOSE, id).map(mac => `ak_${mac}`)

  return {
    /**
     * Makes a key. It is in this answer and nowhere else.
     * @throws `AUTH_API_KEY_SCOPES`, `AUTH_API_KEY_LIMIT`.
     */
    async create(
      caller: Caller,
      { name, scopes = null, expires_in_days: days = DAYS }: CreateApiKeyRequest,
      write: Write
    ) {
      const { userId, scopes: own } = caller
      const missing = own === null ? [] : (scopes ?? []).filter(scope => !own.includes(scope))
      if (missing.length > 0) throw apiKeyScopes({ details: { missing } })
      const { id } = write
      const keyHash = hashSecret(keysOf(id)[0] as string)
      await write.once(db, async tx => {
        await tx.run(repository.insertApiKey, { id, userId, keyHash, name, scopes, days })
        const { total } = found(await tx.first(repository.countApiKeys, { userId }), apiKeyNotFound)
        if (total > keysMax) throw apiKeyLimit({ details: { limit: keysMax } })
        emit(tx, apiKeyCreated, userId, { user_id: userId, api_key_id: id, name })
      })
      const row = await db.first(repository.findApiKey, { id, userId })
      const { key_hash: stored, ...made } = found(row, apiKeyNotFound)
      const api_key = keysOf(id).find(each => stored.equals(hashSecret(each)))
      return { ...made, api_key: found(api_key, apiKeyNotFound) }
    },

    list: ({ userId }: Owner, query: PageQuery) =>
      readPage(query, {
        ...newestFirst,
        name: 'api keys',
        filters: userId,
        rows: place => db.rows(repository.listApiKeys, { userId, ...place }),
        total: () => db.first(repository.countApiKeys, { userId })
      }),

    /** Its tokens are worth nothing any more, in every process within a second. @throws `AUTH_API_KEY_NOT_FOUND`. */
    async revoke({ userId }: Owner, id: string, write: Write): Promise<void> {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteApiKey, { id, userId })) === 0) throw apiKeyNotFound()
        await revocations.announce(tx, userId)
      })
    },

    /** @throws `AUTH_INVALID_API_KEY`, whatever the reason. */
    async exchange(text: string) {
      const key = found(await db.first(repository.useApiKey, { keyHash: hashSecret(text) }), apiKeyInvalid)
      const ids = { id: key.id, userId: key.user_id }
      const rights = found(await db.first(repository.findKeyRights, ids), apiKeyInvalid)
      const { token, seconds } = await accessTokens.issueForKey({ ...ids, ...rights })
      return { access_token: token, token_type: 'Bearer' as const, expires_in: seconds }
    }
  }
}
export type ApiKeys = ReturnType<typeof createApiKeys>
