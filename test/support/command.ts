import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { SECRET_SETTINGS } from './secrets.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Runs a command of the command line on its own, and waits for its end. */
export async function runCommandLine(
  words: readonly string[],
  { settings = {}, input = '' }: { settings?: Readonly<Record<string, string>>; input?: string } = {}
): Promise<{ code: number | null; out: string; errors: string }> {
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...process.env, ...SECRET_SETTINGS, CARTWRIGHT__LOG__LEVEL: 'silent', ...settings }
  })
  child.stdin.end(input)
  const exited = new Promise<number | null>(resolve => child.on('close', resolve))
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await exited, out, errors }
}
