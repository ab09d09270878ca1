import type { App } from '../app.ts'
import type { Config } from '../config.ts'

export type Prepared = { admin: { email: string; password: string } | null }

/** What an empty shop needs before its first request. */
export async function prepareShop(_app: App, _config: Config, _embedded: boolean): Promise<Prepared> {
  return { admin: null }
}

/** What the person at the terminal wants to know now. */
export async function welcome(
  _app: App,
  _prepared: Prepared,
  _config: Config,
  address: string
): Promise<string> {
  return `Cartwright listens on ${address}\n`
}
