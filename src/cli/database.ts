import type { Config } from '../config.ts'

export type OpenedDatabase = { url: string; embedded: boolean; stop(): Promise<void> }

/**
 * The database that the configuration names, or the embedded one of the data folder. A server ('own') must be the
 * only one on its folder; a command ('attach') may use the database of a server that is running.
 */
export async function openConfiguredDatabase(
  config: Config,
  mode: 'own' | 'attach'
): Promise<OpenedDatabase> {
  if (config.database.url !== '') return { url: config.database.url, embedded: false, stop: async () => {} }
  const { openEmbeddedPostgres } = await import('../platform/embedded-postgres.ts')
  const report = (line: string) => process.stderr.write(`${line}\n`)
  const { url, stop } = await openEmbeddedPostgres({ folder: config.data, mode, report })
  return { url, embedded: true, stop }
}
