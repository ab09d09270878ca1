import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { OperatorError } from '../kernel/errors.ts'
import type { Module } from '../module.ts'
import { authModule, generateReadablePassword } from '../modules/auth/index.ts'
import { withShopModulesForCommand } from './with-shop.ts'

export type CreateUserOptions = { email: string; name?: string; admin: boolean; json: boolean }

/** Creates an account. The password is typed or piped; when it is empty, one is generated and printed. */
export async function createUserFromCommandLine(
  modules: readonly Module[],
  { email, name, admin, json }: CreateUserOptions
): Promise<void> {
  const given = await readPassword()
  const password = given === '' ? generateReadablePassword() : given
  const role = admin ? 'admin' : 'customer'
  const user = await withAuth(modules, auth => auth.createUser({ email, name, password, role }))
  const madeUp = given === '' ? password : null
  const text = `Created the ${role} ${user.email}.\n${madeUp === null ? '' : `Password: ${madeUp}\n`}`
  const { id } = user
  process.stdout.write(json ? `${JSON.stringify({ id, email: user.email, role, password: madeUp })}\n` : text)
}

/** Disables or enables an account. */
export async function setUserDisabledByEmail(
  modules: readonly Module[],
  { email, json }: { email: string; json: boolean },
  disabled: boolean
): Promise<void> {
  await change(modules, email, auth => auth.setDisabled(email, disabled))
  const outcome = disabled ? 'Disabled, with all sessions ended' : 'Enabled'
  process.stdout.write(json ? `${JSON.stringify({ email, disabled })}\n` : `${outcome}: ${email}.\n`)
}

/** Removes the second factor of an account that lost the device and the recovery codes. */
export async function resetSecondFactorByEmail(
  modules: readonly Module[],
  { email, json }: { email: string; json: boolean }
): Promise<void> {
  await change(modules, email, auth => auth.resetSecondFactor(email))
  const text = `Removed the second factor of ${email}; all its sessions are ended. The account can log in with its password alone.\n`
  process.stdout.write(json ? `${JSON.stringify({ email, second_factor: false })}\n` : text)
}

export async function setUserRoleByEmail(
  modules: readonly Module[],
  { email, role, scopes, json }: { email: string; role: Account['role']; scopes?: string; json: boolean }
): Promise<void> {
  const wanted = scopes === undefined ? null : readScopes(modules, role, scopes)
  await change(modules, email, auth => auth.setRole(email, role, wanted))
  const what = wanted === null ? '' : ` for ${wanted.join(', ')}`
  const text = `${email} has the role ${role}${what} now.\n`
  process.stdout.write(json ? `${JSON.stringify({ email, role, scopes: wanted })}\n` : text)
}

/** Parses `--scopes`. @throws OperatorError for an unknown module, and for the role customer. */
function readScopes(modules: readonly Module[], role: Account['role'], text: string): string[] {
  if (role !== 'admin') throw new OperatorError('Only administrators have scopes. Add --role admin.')
  const scopes = [...new Set(text.split(',').map(each => each.trim()))]
  const names = modules.map(({ name }) => name)
  const unknown = scopes.filter(scope => !names.includes(scope))
  if (unknown.length > 0)
    throw new OperatorError(`There is no module ${unknown.join(', ')}. Modules: ${names.join(', ')}.`)
  return scopes
}

/** @throws OperatorError when no account has this address. */
async function change(
  modules: readonly Module[],
  email: string,
  how: (auth: AuthApi) => Promise<boolean>
): Promise<void> {
  if (!(await withAuth(modules, how))) throw new OperatorError(`No account has the e-mail address ${email}.`)
}

type Account = { email: string; name: string | undefined; password: string; role: 'customer' | 'admin' }
type AuthApi = Awaited<ReturnType<typeof authModule.setup>>['api']

const withAuth = <T>(modules: readonly Module[], work: (auth: AuthApi) => Promise<T>) =>
  withShopModulesForCommand(modules, ({ apiOf }) => work(apiOf(authModule)))

/** Reads the password from a pipe, or asks for it twice without echo. Returns '' when none is given. */
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
    const password = await ask('Password (empty: generate one): ')
    if (password !== '' && password !== (await ask('Repeat the password: ')))
      throw new OperatorError('The two passwords differ. No account was created.')
    return password
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw new OperatorError('Stopped. No account was created.')
    throw error
  } finally {
    terminal.close()
  }
}
