import type { TestProject } from 'vitest/node'
import { openTestServer, type TestServer } from './test-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    serverUrl: string
    templateName: string
    cluster: string | undefined
    seed: number
  }
}

let shared: Promise<TestServer> | undefined
let users = 0

/** One PostgreSQL for all lanes that need one. Vitest calls this for each of them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  users += 1
  shared ??= openTestServer()
  const server = await shared
  // All processes of tests inherit it.
  if (server.temporary !== undefined) process.env.TMPDIR = server.temporary
  project.provide('serverUrl', server.url)
  project.provide('templateName', server.templateName)
  project.provide('cluster', server.cluster)
  project.provide('seed', project.config.sequence.seed)
  return async () => {
    users -= 1
    if (users > 0) return
    shared = undefined
    await server.stop()
  }
}
