import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { runSql } from '../../test/support/sql.ts'

async function useCommand(settings: Record<string, string> = {}) {
  const created = await createTestDatabase()
  onTestFinished(() => created.drop())
  const run = (input: string, ...options: string[]) =>
    runCommandLine(['user', ...options], { input, settings: { DATABASE_URL: created.url, ...settings } })
  const sql = (text: string) => runSql(created.url, text)
  return {
    run,
    sql,
    states: () => sql('select disabled_at is not null as disabled from auth.users'),
    users: () => sql('select email, name, role from auth.users order by email')
  }
}

test('the command "user create" makes an administrator and prints a generated password', async () => {
  const { run, users } = await useCommand()
  const { code, out } = await run('', 'create', '--email', 'Boss@Example.com', '--admin')
  expect(code).toBe(0)
  expect(out).toMatch(/^Created the admin boss@example\.com\.\nPassword: (?:[a-z]{4}-){4}[a-z]{4}\n$/)
  expect(await users()).toEqual([{ email: 'boss@example.com', name: null, role: 'admin' }])
})

test('the command "user create --json" prints the password only when it was generated', async () => {
  const { run } = await useCommand()
  const email = 'ada@example.com'
  const said = async (input: string, ...words: string[]) =>
    JSON.parse((await run(input, ...words, '--json')).out)
  const password = expect.stringMatching(/^(?:[a-z]{4}-){4}[a-z]{4}$/)
  expect(await said('', 'create', '--email', email)).toMatchObject({ email, role: 'customer', password })
  const other = await said('nine lives and a piano', 'create', '--email', 'boss@example.com', '--admin')
  expect(other).toMatchObject({ role: 'admin', password: null })
  expect(await said('', 'disable', '--email', email)).toEqual({ email, disabled: true })
  expect(await said('', 'enable', '--email', email)).toEqual({ email, disabled: false })
  const role = ['role', '--email', email, '--role', 'admin', '--scopes', 'catalog']
  expect(await said('', ...role)).toEqual({ email, role: 'admin', scopes: ['catalog'] })
})

test('the command "user create" reads the password from a pipe and does not print it', async () => {
  const { run, users } = await useCommand()
  const { code, out, errors } = await run(
    'nine lives and a piano\n',
    'create',
    '--email',
    'ada@example.com',
    '--name',
    'Ada'
  )
  expect({ code, out }).toEqual({ code: 0, out: 'Created the customer ada@example.com.\n' })
  expect(errors).not.toContain('nine lives')
  expect(await users()).toEqual([{ email: 'ada@example.com', name: 'Ada', role: 'customer' }])
})

test('the command "user create" reports invalid input in a sentence and creates no account', async () => {
  const { run, users } = await useCommand()
  const weak = await run('short\n', 'create', '--email', 'ada@example.com')
  expect(weak.code).toBe(1)
  expect(weak.errors).toMatch(/too easy to guess.*\(too_short\)/)
  expect((await run('', 'create', '--email', 'nonsense')).errors).toBe(
    'The e-mail address is not valid. Correct it.\n'
  )
  expect(await users()).toEqual([])
})

test('the user commands name the setting that disables the auth module', async () => {
  const { run, users } = await useCommand({ CARTWRIGHT__MODULES__AUTH__ENABLED: 'false' })
  expect(await run('', 'create', '--email', 'ada@example.com')).toEqual({
    code: 1,
    out: '',
    errors: 'The module auth is disabled (modules.auth.enabled).\n'
  })
  expect(await users()).toEqual([])
})

test('the commands "user disable", "enable" and "role" change an account', async () => {
  const { run, users, states } = await useCommand()
  await run('nine lives and a piano\n', 'create', '--email', 'ada@example.com')
  const at = ['--email', 'Ada@example.com']
  expect((await run('', 'disable', ...at)).out).toBe('Disabled, with all sessions ended: Ada@example.com.\n')
  expect(await states()).toEqual([{ disabled: true }])
  expect((await run('', 'enable', ...at)).out).toBe('Enabled: Ada@example.com.\n')
  expect(await states()).toEqual([{ disabled: false }])
  expect((await run('', 'role', ...at, '--role', 'admin')).out).toBe(
    'Ada@example.com has the role admin now.\n'
  )
  expect(await users()).toEqual([{ email: 'ada@example.com', name: null, role: 'admin' }])
  const unknown = await run('', 'disable', '--email', 'nobody@example.com')
  expect(unknown).toMatchObject({
    code: 1,
    errors: 'No account has the e-mail address nobody@example.com.\n'
  })
})

test('the command "user reset-second-factor" works for the last administrator and rejects an account without one', async () => {
  const { run, sql } = await useCommand()
  await run('nine lives and a piano\n', 'create', '--email', 'ada@example.com', '--admin')
  await sql('update auth.users set second_factor_at = now()')
  const reset = (email: string, ...options: string[]) =>
    run('', 'reset-second-factor', '--email', email, ...options)
  expect(await reset('ada@example.com')).toMatchObject({
    code: 0,
    out: 'Removed the second factor of ada@example.com; all its sessions are ended. The account can log in with its password alone.\n'
  })
  expect(await sql('select second_factor_at from auth.users')).toEqual([{ second_factor_at: null }])
  const [entry] = await sql('select actor, method, route, status from cartwright.audit')
  expect(entry).toEqual({
    actor: '00000000-0000-0000-0000-000000000000',
    method: 'COMMAND',
    route: 'user reset-second-factor',
    status: null
  })
  expect(await reset('ada@example.com')).toMatchObject({
    code: 1,
    errors: 'This account has no second factor. Enrol one at /api/auth/second-factor.\n'
  })
  expect((await reset('nobody@example.com')).errors).toContain('No account has the e-mail address')
  await sql('update auth.users set second_factor_at = now()')
  expect(JSON.parse((await reset('ada@example.com', '--json')).out)).toEqual({
    email: 'ada@example.com',
    second_factor: false
  })
})

test('the command "user role --scopes" limits an administrator to modules, and without it grants full access', async () => {
  const { run, sql } = await useCommand()
  await sql(
    `insert into auth.users (id, email, role, password_hash)
     select gen_random_uuid(), name || '@example.com', 'admin', 'x' from unnest(array['ada', 'boss']) as name`
  )
  const role = (name: string, ...scopes: string[]) =>
    run('', 'role', '--email', `${name}@example.com`, '--role', 'admin', ...scopes)
  const scopes = async () =>
    (await sql(`select scopes from auth.users where email = 'ada@example.com'`))[0]?.scopes
  const [limited, unknown, last] = [
    await role('ada', '--scopes', 'catalog, inventory,catalog'),
    await role('ada', '--scopes', 'catalog,stock'),
    await role('boss', '--scopes', 'catalog')
  ]
  expect(limited.out).toBe('ada@example.com has the role admin for catalog, inventory now.\n')
  expect(unknown.errors).toMatch(/^There is no module stock. Modules: auth, pricing, inventory, /)
  expect(last.errors).toContain('last administrator')
  expect([limited.code, unknown.code, last.code]).toEqual([0, 1, 1])
  expect(await scopes()).toEqual(['catalog', 'inventory'])
  expect((await role('ada')).code).toBe(0)
  expect(await scopes()).toBeNull()
})
