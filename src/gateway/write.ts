import type { FastifyRequest } from 'fastify'
import * as keys from '../platform/idempotency-keys.ts'
import type { Write } from '../platform/write.ts'
import { idempotencyKeyInProgress, malformedIfMatch } from './errors.ts'

const ENTITY_TAG = /^"(\d{1,15})"$/

/** The conditions of a write: `If-Match` (RFC 9110, section 13.1.1; `*` is any version) and `Idempotency-Key`. */
export function writeOf(request: FastifyRequest): Write {
  const claimed = request.idempotency
  return {
    expectedVersion: expectedVersion(request.headers['if-match']),
    alreadyApplied: claimed?.applied ?? false,
    markApplied: async tx => {
      if (claimed !== null && !(await keys.markApplied(tx, claimed))) throw idempotencyKeyInProgress()
    }
  }
}

function expectedVersion(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null
  const match = ENTITY_TAG.exec(header)
  if (match === null) throw malformedIfMatch()
  return Number(match[1])
}
