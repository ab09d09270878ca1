import { expect, test } from 'vitest'
import type { Queryable } from '../../platform/postgres/database.ts'
import { diagnoseAdminSecondFactor } from './diagnosis.ts'

test.each([
  ['warning', { isRequired: false, isProduction: true }, true],
  ['ok', { isRequired: false, isProduction: true }, false],
  ['ok', { isRequired: true, isProduction: true }, true],
  ['ok', { isRequired: false, isProduction: false }, true]
] as const)(
  'doctor finds on the second factor of administrators: %s where %o and an administrator has none: %s',
  async (state, shop, found) => {
    const db = { first: async () => ({ found }) } as unknown as Queryable
    const [diagnosis] = diagnoseAdminSecondFactor(db, shop)
    expect(await diagnosis?.find()).toMatchObject({ state })
  }
)
