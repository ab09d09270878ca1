import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ANSWER_MS_MAX = 2_000

/** The file with the port of the sandbox of this folder, as of its last start. */
export const sandboxPortFile = (folder: string): string => join(folder, 'port')
export const readSandboxPort = (folder: string): number => {
  const path = sandboxPortFile(folder)
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0
}

/** Returns the URL of the sandbox of this folder that runs already, started by this process or another one. */
export async function findRunningSandbox({
  folder,
  key
}: {
  folder: string
  key: string
}): Promise<string | undefined> {
  const port = readSandboxPort(folder)
  if (port === 0) return undefined
  const url = `http://127.0.0.1:${port}`
  const headers = { authorization: `Bearer ${key}` }
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  const path = '/v1/payment_intents?payment_id=none'
  return fetch(`${url}${path}`, { headers, signal }).then(
    ({ ok }) => (ok ? url : undefined),
    () => undefined
  )
}
