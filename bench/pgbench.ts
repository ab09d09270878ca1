import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Transactions a second of a script of pgbench. */
export async function runPgbench(
  databaseUrl: string,
  script: string,
  { connections, seconds }: { connections: number; seconds: number }
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-pgbench-'))
  try {
    const file = join(folder, 'script.sql')
    await writeFile(file, script)
    const args = [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(connections),
      '-T',
      String(seconds),
      '-f',
      file,
      databaseUrl
    ]
    const said = execFileSync('pgbench', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    return Number(/tps = ([\d.]+)/.exec(said)?.[1])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
