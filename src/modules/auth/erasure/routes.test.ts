import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, openAccounts, PASSWORD } from '../../../../test/support/accounts.ts'
import { defineError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { defineModule } from '../../../module.ts'

const diaryOpen = defineError('conflict', 'DIARY_OPEN', 'Only for this test.')
/** The personal data of a dependent module. */
const diary = new Map<string, string>()
const open = new Set<string>()
const diaryModule = defineModule({
  name: 'diary',
  description: 'Keeps what people write.',
  basePaths: [],
  requires: {},
  uses: {},
  personalData: true,
  setup: async () => ({
    api: {},
    personalData: {
      erase: async (_tx, userId) => {
        if (open.has(userId)) throw diaryOpen()
        diary.delete(userId)
      },
      export: async userId => ({ entry: diary.get(userId) ?? null })
    }
  })
})

let shop: Accounts
beforeAll(async () => {
  shop = await openAccounts({}, [diaryModule])
})
afterAll(() => shop.close())

const leave = (caller: Pick<Accounts['anonymous'], 'post'>, body: object = { password: PASSWORD }) =>
  caller.post('/api/auth/me/delete', body)
const ADDRESS = {
  name: 'Ada Byron',
  line1: 'Storgatan 1',
  city: 'Stockholm',
  postal_code: '111 22',
  country: 'SE'
}

describe('an account that is deleted', () => {
  test('a deleted account leaves no personal data in any module, and frees its e-mail address', async () => {
    const ada = await shop.register({ name: 'Ada Byron' })
    diary.set(ada.id, 'dear diary')
    await ada.post('/api/auth/addresses', { address: ADDRESS })
    await shop.anonymous.post('/api/auth/forgot', { email: ada.email })
    await ada.post('/api/auth/email', { email: shop.newEmail(), password: PASSWORD })
    expect((await leave(ada)).status).toBe(204)

    expect((await ada.get('/api/auth/me')).status).toBe(401)
    expect((await shop.logIn(ada.email)).status).toBe(401)
    expect(diary.has(ada.id)).toBe(false)
    expect(await shop.auth.contacts([ada.id])).toEqual([])
    const tables = await shop.sql(
      `select table_name from information_schema.tables where table_schema = 'auth'`
    )
    for (const { table_name } of tables) {
      const rows = await shop.sql(`select t::text as row from auth.${table_name} t`)
      for (const { row } of rows) {
        expect(row).not.toContain(ada.email)
        expect(row).not.toContain('Byron')
        expect(row).not.toContain(ada.id)
      }
    }
    const jobs = await shop.sql('select j::text as row from cartwright.jobs j')
    expect(JSON.stringify(jobs)).not.toContain(ada.email)
    await expect.poll(() => shop.heardOf(ada.id, 'auth.user_deleted')).toEqual([{ user_id: ada.id }])
    expect((await shop.register({ email: ada.email })).id).not.toBe(ada.id)
  })

  test('a deleted account is erased again after concurrent writes have ended', async () => {
    const ada = await shop.register()
    await leave(ada)
    diary.set(ada.id, 'written while leaving')
    open.add(ada.id)
    const hurry = () =>
      shop.sql(
        `update cartwright.jobs set due_at = now() where handler = 'auth.erase_again' and subject = $1 and due_at > now() + interval '1 hour'`,
        [ada.id]
      )
    await shop.sql(`update cartwright.jobs set due_at = now() where handler = 'auth.erase_again'`)
    // The diary is still open, so the erasure is retried in a day.
    await expect
      .poll(
        async () => {
          const later = await shop.sql(
            `select id from cartwright.jobs where handler = 'auth.erase_again' and subject = $1 and due_at > now() + interval '1 hour'`,
            [ada.id]
          )
          return later.length
        },
        { timeout: 60_000 }
      )
      .toBe(1)
    expect(diary.has(ada.id)).toBe(true)
    open.delete(ada.id)
    await hurry()
    await expect.poll(() => diary.has(ada.id)).toBe(false)
  })

  test('an account is kept, with its data in every module, when one module rejects the erasure', async () => {
    const ada = await shop.register()
    diary.set(ada.id, 'dear diary')
    open.add(ada.id)
    const answer = await leave(ada)
    expect([answer.status, answer.json.code]).toEqual([409, 'DIARY_OPEN'])
    expect((await ada.get('/api/auth/me')).status).toBe(200)
    open.delete(ada.id)
    expect((await leave(ada)).status).toBe(204)
  })

  test('deleting an account requires its password, or a confirmation if it has none', async () => {
    const ada = await shop.register()
    for (const body of [{}, { confirm: true }, { password: 'not the right one' }]) {
      const answer = await leave(ada, body)
      expect([answer.status, answer.json.code]).toEqual([401, 'AUTH_INVALID_CREDENTIALS'])
    }
    await shop.sql('update auth.users set password_hash = null where id = $1', [ada.id])
    const answer = await leave(ada, { password: PASSWORD })
    expect([answer.status, answer.json.code]).toEqual([400, 'AUTH_CONFIRMATION_REQUIRED'])
    expect((await leave(ada, { confirm: true })).status).toBe(204)
  })

  test('five simultaneous requests delete an account once', async () => {
    const ada = await shop.register()
    const answers = await Promise.all(Array.from({ length: 5 }, () => leave(ada)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.every(({ status }) => [204, 401, 404, 503].includes(status))).toBe(true)
  })

  test('the last administrator cannot delete the account, also when two administrators delete theirs simultaneously', async () => {
    const [one, other] = [await shop.newAdmin(), await shop.newAdmin()]
    const answers = await Promise.all([one, other].map(admin => leave(admin)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409])
    expect(answers.find(({ status }) => status === 409)?.json.code).toBe('AUTH_LAST_ADMIN')
  })
})

test('the export of an account contains all data of the caller and of no other user', async () => {
  const ada = await shop.register({ name: 'Ada Byron' })
  await ada.post('/api/auth/addresses', { address: ADDRESS })
  diary.set(ada.id, 'dear diary')
  const { status, json } = await ada.get('/api/auth/me/export')
  expect(status).toBe(200)
  expect(json).toMatchObject({
    user_id: ada.id,
    parts: {
      auth: {
        account: { email: ada.email, name: 'Ada Byron', role: 'customer' },
        addresses: [{ address: ADDRESS, default_shipping: true }],
        sessions: [{ user_agent: expect.anything() }],
        external_identities: []
      },
      diary: { entry: 'dear diary' }
    }
  })
  expect(JSON.stringify(json)).not.toMatch(/argon2|hash/)
  const eve = await shop.register()
  expect((await eve.get('/api/auth/me/export')).json.parts).toMatchObject({
    auth: { account: { email: eve.email }, addresses: [] },
    diary: { entry: null }
  })
})

test('the erasure of an account that does not exist is rejected', async () => {
  const erase = shop.db.transaction(tx => shop.auth.eraseUser(tx, newId()))
  await expect(erase).rejects.toMatchObject({ code: 'AUTH_USER_NOT_FOUND' })
})
