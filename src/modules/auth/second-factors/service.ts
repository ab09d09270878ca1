import { randomBytes } from 'node:crypto'
import { encodeBase32 } from '../../../kernel/base32.ts'
import { found } from '../../../kernel/errors.ts'
import type { PayloadOf } from '../../../kernel/events.ts'
import type { AuditTrail } from '../../../platform/audit.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import {
  secondFactorAlreadyEnrolledError,
  secondFactorEnrolmentCodeInvalidError,
  secondFactorEnrolmentNotStartedError,
  secondFactorManagedByIssuerError,
  secondFactorNotEnrolledError,
  userNotFoundError
} from '../errors.ts'
import { secondFactorChangedEvent } from '../events.ts'
import { clearSessionSecondFactorMarks, markSessionSecondFactorUsed } from '../sessions/repository.ts'
import type { SessionService } from '../sessions/service.ts'
import type { VerifiedTokenIdentity } from '../tokens/verify.ts'
import { findUser } from '../users/repository.ts'
import { deriveRecoveryCodes, hashRecoveryCode, normalizeSecondFactorCode } from './recovery-codes.ts'
import * as repository from './repository.ts'
import { findTotpStepOfCode, TOTP_SECRET_BYTES, totpProvisioningUri } from './totp.ts'

export type SecondFactorDeps = {
  db: Database
  secrets: Secrets
  log: Log
  emit: Emit
  audit: Pick<AuditTrail, 'noteCommand'>
  sessions: Pick<SessionService, 'endAll' | 'verifyAgain'>
  /** The issuer name that authenticator apps show beside the code. */
  shopName: string
  isRequired: boolean
}
type Caller = Pick<VerifiedTokenIdentity, 'userId' | 'sessionId'>
type Change = PayloadOf<typeof secondFactorChangedEvent>['change']

const PURPOSE = 'auth.second_factors'

/** Manages second factors of administrators: time-based codes of an app (RFC 6238) and recovery codes. */
export function createSecondFactorService(deps: SecondFactorDeps) {
  const { db, secrets, log, emit, audit, sessions, shopName, isRequired } = deps
  const announce = (tx: Transaction, user_id: string, change: Change) =>
    emit(tx, secondFactorChangedEvent, user_id, { user_id, change })

  function open(sealed: Buffer, user_id: string): Buffer | undefined {
    const secret = secrets.open(PURPOSE, sealed)
    if (secret === undefined)
      log.warn(
        { user_id, secret: secrets.keyIdOf(sealed) },
        'a second factor is encrypted with a secret that secrets.keys lacks, so its codes are rejected. Add the secret, or run user reset-second-factor.'
      )
    return secret
  }

  /** Accepts a code of the app, once per time step. */
  async function acceptCode(tx: Transaction, userId: string, code: string): Promise<boolean> {
    const sealed = (await tx.first(repository.findSecondFactor, { userId }))?.sealed ?? null
    const secret = sealed === null ? undefined : open(sealed, userId)
    const step = secret && findTotpStepOfCode(secret, code, Date.now())
    if (sealed === null || secret === undefined || step === undefined) return false
    const isCurrent = secrets.keyIdOf(sealed) === secrets.keyId
    const kept = isCurrent ? sealed : secrets.seal(PURPOSE, secret)
    return (await tx.run(repository.recordUsedTotpStep, { userId, step, sealed: kept })) === 1
  }

  /** Consumes a recovery code and emits an event to notify its owner. */
  async function acceptRecoveryCode(tx: Transaction, userId: string, code: string): Promise<boolean> {
    const isRight =
      (await tx.run(repository.consumeRecoveryCode, { userId, hash: hashRecoveryCode(code) })) === 1
    if (isRight) announce(tx, userId, 'recovery_code_used')
    return isRight
  }

  async function storeCodes(tx: Transaction, userId: string, id: string): Promise<void> {
    await tx.run(repository.deleteRecoveryCodes, { userId })
    await tx.run(repository.insertRecoveryCodes, {
      userId,
      hashes: deriveRecoveryCodes(secrets, id)[0].map(hashRecoveryCode)
    })
  }

  /** Returns the codes that the request of this id created, unless they were replaced. @throws `AUTH_SECOND_FACTOR_NOT_ENROLLED`. */
  async function codesOf(userId: string, id: string): Promise<{ recovery_codes: string[] }> {
    const stored = await db.rows(repository.listRecoveryCodes, { userId })
    const isStored = (code: string) =>
      stored.some(({ code_hash }) => code_hash.equals(hashRecoveryCode(code)))
    const made = deriveRecoveryCodes(secrets, id).find(codes => codes.some(isStored))
    return { recovery_codes: found(made, secondFactorNotEnrolledError) }
  }

  async function removeFactor(tx: Transaction, userId: string, change: Change): Promise<void> {
    if ((await tx.run(repository.clearSecondFactorEnrolment, { userId })) === 0)
      throw secondFactorNotEnrolledError()
    await tx.run(repository.deleteSecondFactor, { userId })
    await tx.run(repository.deleteLoginChallengesOfUser, { userId })
    await tx.run(clearSessionSecondFactorMarks, { userId })
    await sessions.verifyAgain(tx, userId)
    announce(tx, userId, change)
  }

  return {
    async read(userId: string) {
      const { enrolled_at, codes_left } = found(
        await db.first(repository.findSecondFactor, { userId }),
        userNotFoundError
      )
      return { enrolled_at, recovery_codes_left: codes_left, is_required: isRequired }
    },

    /** Creates a secret, which is inactive until it is confirmed. @throws `AUTH_SECOND_FACTOR_ENROLLED`, `AUTH_SECOND_FACTOR_EXTERNAL`. */
    async begin(userId: string, write: IdempotentWrite) {
      const user = found(await db.first(findUser, { id: userId }), userNotFoundError)
      if (user.password_hash === null) throw secondFactorManagedByIssuerError()
      await write.once(db, async tx => {
        const sealed = secrets.seal(PURPOSE, randomBytes(TOTP_SECRET_BYTES))
        if ((await tx.run(repository.upsertPendingSecondFactor, { userId, sealed })) === 0)
          throw secondFactorAlreadyEnrolledError()
      })
      const { sealed, enrolled_at } = found(
        await db.first(repository.findSecondFactor, { userId }),
        userNotFoundError
      )
      // A retry never returns the secret of a factor that was confirmed in the meantime.
      if (sealed === null || enrolled_at !== null) throw secondFactorAlreadyEnrolledError()
      const secret = found(open(sealed, userId), secondFactorEnrolmentNotStartedError)
      return {
        secret: encodeBase32(secret),
        otpauth_uri: totpProvisioningUri(secret, { issuer: shopName, account: user.email ?? userId })
      }
    },

    /** Activates the factor, which later logins require. @throws `AUTH_SECOND_FACTOR_CODE_WRONG` and others. */
    async confirm({ userId, sessionId }: Caller, code: string, write: IdempotentWrite) {
      await write.once(db, async tx => {
        // The user is locked first, because logins lock the user before the factor.
        if ((await tx.run(repository.markSecondFactorEnrolled, { userId })) === 0)
          throw secondFactorAlreadyEnrolledError()
        found(
          (await tx.first(repository.findSecondFactor, { userId }))?.sealed ?? undefined,
          secondFactorEnrolmentNotStartedError
        )
        if (!(await acceptCode(tx, userId, normalizeSecondFactorCode(code))))
          throw secondFactorEnrolmentCodeInvalidError()
        await storeCodes(tx, userId, write.id)
        await sessions.endAll(tx, userId, sessionId)
        if (sessionId !== null) await tx.run(markSessionSecondFactorUsed, { id: sessionId })
        announce(tx, userId, 'enrolled')
      })
      return codesOf(userId, write.id)
    },

    /** @throws `AUTH_SECOND_FACTOR_NOT_ENROLLED`. */
    async replaceRecoveryCodes(userId: string, write: IdempotentWrite) {
      await write.once(db, async tx => {
        const factor = await tx.first(repository.lockUserEnrolledInSecondFactor, { userId })
        found(factor, secondFactorNotEnrolledError)
        await storeCodes(tx, userId, write.id)
        announce(tx, userId, 'recovery_codes_replaced')
      })
      return codesOf(userId, write.id)
    },

    /** @throws `AUTH_SECOND_FACTOR_NOT_ENROLLED`. */
    remove: (userId: string, write: IdempotentWrite) =>
      write.once(db, tx => removeFactor(tx, userId, 'removed')),

    /** Removes the factor of a user who lost device and recovery codes, for operators. @throws as `remove`. */
    reset: (userId: string) =>
      db.transaction(async tx => {
        await removeFactor(tx, userId, 'reset')
        await sessions.endAll(tx, userId, null)
        await audit.noteCommand(tx, 'user reset-second-factor', { id: userId })
      }),

    /** Consumes a code of the app or a recovery code. Returns false when it is wrong, too old, or used. */
    accept: (tx: Transaction, userId: string, text: string): Promise<boolean> => {
      const code = normalizeSecondFactorCode(text)
      const isOfApp = /^\d{6}$/.test(code)
      return isOfApp ? acceptCode(tx, userId, code) : acceptRecoveryCode(tx, userId, code)
    }
  }
}
export type SecondFactorService = ReturnType<typeof createSecondFactorService>
