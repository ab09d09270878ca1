import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { runSql } from '../../test/support/sql.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

async function useCommand() {
  const created = await createTestDatabase()
  onTestFinished(() => created.drop())
  const run = async (input: string, ...options: string[]) => {
    const child = spawn(process.execPath, [main, 'user', 'create', ...options], {
      env: { ...process.env, DATABASE_URL: created.url, CARTWRIGHT__LOG__LEVEL: 'silent' }
    })
    child.stdin.end(input)
    const exited = new Promise<number | null>(resolve => child.on('close', resolve))
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    return { code: await exited, out, errors }
  }
  return { run, users: () => runSql(created.url, 'select email, name, role from auth.users order by email') }
}

test('makes an administrator and prints the password it made up', async () => {
  const { run, users } = await useCommand()
  const { code, out } = await run('', '--email', 'Boss@Example.com', '--admin')
  expect(code).toBe(0)
  expect(out).toMatch(/^Made the admin boss@example\.com\.\nPassword: (?:[a-z]{4}-){4}[a-z]{4}\n$/)
  expect(await users()).toEqual([{ email: 'boss@example.com', name: null, role: 'admin' }])
})

test('takes the password from a pipe and does not show it', async () => {
  const { run, users } = await useCommand()
  const { code, out, errors } = await run(
    'nine lives and a piano\n',
    '--email',
    'ada@example.com',
    '--name',
    'Ada'
  )
  expect({ code, out }).toEqual({ code: 0, out: 'Made the customer ada@example.com.\n' })
  expect(errors).not.toContain('nine lives')
  expect(await users()).toEqual([{ email: 'ada@example.com', name: 'Ada', role: 'customer' }])
})

test('says in a sentence what is wrong, and makes nobody', async () => {
  const { run, users } = await useCommand()
  const weak = await run('short\n', '--email', 'ada@example.com')
  expect(weak.code).toBe(1)
  expect(weak.errors).toMatch(/too easy to guess.*\(too_short\)/)
  expect((await run('', '--email', 'nonsense')).errors).toBe('This is not an e-mail address.\n')
  expect(await users()).toEqual([])
})
