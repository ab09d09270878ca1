import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { Queryable } from '../postgres/database.ts'
import { createKeyClaims } from './claims.ts'
import { findKey, insertKey, type KeyRow } from './keys.ts'

test('however many wait for a key, this process looks once each time', async () => {
  const fingerprint = randomBytes(32)
  const held = { fingerprint, state: 'running', is_held: true, is_expired: false } as KeyRow
  const sent: unknown[] = []
  const db = {
    run: async (statement: unknown) => {
      sent.push(statement)
      return 0
    },
    first: async (statement: unknown) => {
      sent.push(statement)
      return held
    }
  } as unknown as Queryable
  const claims = createKeyClaims(db)
  onTestFinished(() => claims.close())
  const key = { keyHash: Buffer.from(randomUUID()), fingerprint }
  const startedAt = performance.now()
  const waits = Array.from({ length: 8 }, () => claims.claim(key, () => () => {}))
  expect((await Promise.all(waits)).map(({ kind }) => kind)).toEqual(Array(8).fill('running'))

  const looks = (performance.now() - startedAt) / 50
  expect(sent.filter(statement => statement === insertKey)).toHaveLength(8)
  expect(sent.filter(statement => statement === findKey).length).toBeLessThanOrEqual(8 + Math.ceil(looks))
})
