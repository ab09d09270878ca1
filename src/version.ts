import { readFileSync } from 'node:fs'

/**
 * The version of this program, from `package.json`.
 * @example
 * assert.match(version, /^\d+\.\d+\.\d+/)
 */
export const version: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8')
).version
