import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { RULES_FILE } from './monitoring-files.ts'

const PROGRAM = 'prometheus'

/** Whether tests can start Prometheus. */
export const hasPrometheus = spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0
if (!hasPrometheus) console.warn('Prometheus is not installed, so no Prometheus reads the metrics of a shop.')

/** Starts Prometheus with this configuration beside the alert rules. */
export async function startPrometheus(config: string) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-prometheus-'))
  const file = join(folder, 'prometheus.yml')
  await writeFile(file, config)
  await copyFile(RULES_FILE, join(folder, 'alerts.yml'))
  const port = await freePort()
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`
  ]
  const child = spawn(PROGRAM, flags, { stdio: 'ignore' })
  const ended = once(child, 'close')
  const read = async (path: string, parameters: Record<string, string> = {}) => {
    const url = new URL(`/api/v1/${path}`, `http://127.0.0.1:${port}`)
    url.search = new URLSearchParams(parameters).toString()
    const { status, error, data } = (await (await fetch(url)).json()) as Record<string, unknown>
    if (status !== 'success') throw new Error(`${url}: ${error}`)
    return data
  }
  return {
    /** The state of each rule after its last evaluation: `ok`, `unknown` or `err`. */
    rules: async () => {
      const { groups } = (await read('rules')) as { groups: { rules: { name: string; health: string }[] }[] }
      return groups.flatMap(({ rules }) => rules)
    },
    /** The series that an expression has now. */
    query: async (expr: string) => {
      const { result } = (await read('query', { query: expr })) as { result: unknown[] }
      return result
    },
    close: async () => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    }
  }
}
