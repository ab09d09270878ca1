import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { authModule, readablePassword } from '../modules/auth/index.ts'
import { withShop } from './with-shop.ts'

export type CreateUserOptions = { email: string; name?: string; admin: boolean; json: boolean }

/** Makes an account, with the password typed at the terminal or piped in, or else one that is made up and printed. */
export async function createUser(
  modules: readonly Module[],
  { email, name, admin, json }: CreateUserOptions
): Promise<void> {
  const given = await readPassword()
  const password = given === '' ? readablePassword() : given
  const role = admin ? 'admin' : 'customer'
  const user = await withAuth(modules, auth => auth.createUser({ email, name, password, role }))
  const madeUp = given === '' ? password : null
  const text = `Made the ${role} ${user.email}.\n${madeUp === null ? '' : `Password: ${madeUp}\n`}`
  const { id } = user
  process.stdout.write(json ? `${JSON.stringify({ id, email: user.email, role, password: madeUp })}\n` : text)
}

/** Keeps somebody out, or lets them in again. */
export async function setUserDisabled(
  modules: readonly Module[],
  { email, json }: { email: string; json: boolean },
  disabled: boolean
): Promise<void> {
  await change(modules, email, auth => auth.setDisabled(email, disabled))
  const outcome = disabled ? 'Disabled; every session of theirs has ended' : 'Enabled'
  process.stdout.write(json ? `${JSON.stringify({ email, disabled })}\n` : `${outcome}: ${email}.\n`)
}

/** For an administrator who lost the device and the recovery codes. */
export async function resetSecondFactor(
  modules: readonly Module[],
  { email, json }: { email: string; json: boolean }
): Promise<void> {
  await change(modules, email, auth => auth.resetSecondFactor(email))
  const text = `Removed the second factor of ${email}; every session has ended. The password alone logs in now.\n`
  process.stdout.write(json ? `${JSON.stringify({ email, second_factor: false })}\n` : text)
}

export async function setUserRole(
  modules: readonly Module[],
  { email, role, scopes, json }: { email: string; role: Account['role']; scopes?: string; json: boolean }
): Promise<void> {
  const wanted = scopes === undefined ? null : readScopes(modules, role, scopes)
  await change(modules, email, auth => auth.setRole(email, role, wanted))
  const what = wanted === null ? '' : ` for ${wanted.join(', ')}`
  const text = `${email} has the role ${role}${what} now.\n`
  process.stdout.write(json ? `${JSON.stringify({ email, role, scopes: wanted })}\n` : text)
}

/** @throws OperatorError for a module that there is not, and for a customer. */
function readScopes(modules: readonly Module[], role: Account['role'], text: string): string[] {
  if (role !== 'admin') throw new OperatorError('Only administrators have scopes: add --role admin.')
  const scopes = [...new Set(text.split(',').map(each => each.trim()))]
  const names = modules.map(({ name }) => name)
  const unknown = scopes.filter(scope => !names.includes(scope))
  if (unknown.length > 0)
    throw new OperatorError(`There is no module ${unknown.join(', ')}; there are ${names.join(', ')}.`)
  return scopes
}

/** @throws OperatorError when nobody has that address. */
async function change(
  modules: readonly Module[],
  email: string,
  how: (auth: AuthApi) => Promise<boolean>
): Promise<void> {
  if (!(await withAuth(modules, how)))
    throw new OperatorError(`Nobody has an account with the address ${email}.`)
}

type Account = { email: string; name: string | undefined; password: string; role: 'customer' | 'admin' }
type AuthApi = Awaited<ReturnType<typeof authModule.setup>>['api']

const withAuth = <T>(modules: readonly Module[], work: (auth: AuthApi) => Promise<T>) =>
  withShop(modules, ({ apiOf }) => work(apiOf(authModule)))

/** The password from a pipe, or typed twice without being shown; empty when there is none. */
async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true })
  const ask = async (question: string) => {
    process.stderr.write(question)
    const answer = await terminal.question('')
    process.stderr.write('\n')
    return answer
  }
  try {
    const password = await ask('Password (empty: make one up): ')
    if (password !== '' && password !== (await ask('The same again: ')))
      throw new OperatorError('The two passwords are not the same; nothing was made.')
    return password
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw new OperatorError('Stopped; nothing was made.')
    throw error
  } finally {
    terminal.close()
  }
}
