import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { MAIN } from './program.ts'
import { SECRET_SETTINGS } from './secrets.ts'

type Options = { main?: string; settings?: Readonly<Record<string, string>>; input?: string }

/** Runs a command of the command line on its own, and waits for its end. */
export async function runCommandLine(
  words: readonly string[],
  { main = MAIN, settings = {}, input = '' }: Options = {}
): Promise<{ code: number | null; out: string; errors: string }> {
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...process.env, ...SECRET_SETTINGS, CARTWRIGHT__LOG__LEVEL: 'silent', ...settings }
  })
  child.stdin.end(input)
  const exited = new Promise<number | null>(resolve => child.on('close', resolve))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exited, out, errors }
}
