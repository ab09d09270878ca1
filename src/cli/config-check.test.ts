import { expect, onTestFinished, test, vi } from 'vitest'
import { readSources } from '../../test/support/source-files.ts'
import {
  furtherConfigurations,
  reportedConfigurations,
  type WrongConfiguration
} from '../../test/support/wrong-configurations.ts'
import { standardModules } from '../app.ts'
import { checkConfig } from './config.ts'
import { startShop } from './start.ts'

// The start cannot open anything here, so a configuration that the check accepts fails for another reason.
const NO_FOLDER = '/dev/null/data'

function useEnvironment(settings: WrongConfiguration['settings']): void {
  for (const name of Object.keys(process.env))
    if (
      name.startsWith('CARTWRIGHT') ||
      name in { DATABASE_URL: 1, REDIS_URL: 1, NODE_ENV: 1, PORT: 1, HOST: 1 }
    )
      vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries({ CARTWRIGHT_DATA: NO_FOLDER, ...settings }))
    vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
}

function checked(): string {
  try {
    checkConfig(standardModules, { json: false })
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('the test cases of config check are the 38 reported configurations and at least 60 others, all different', () => {
  expect(reportedConfigurations).toHaveLength(38)
  expect(furtherConfigurations.length).toBeGreaterThanOrEqual(60)
  const all = [...reportedConfigurations, ...furtherConfigurations].map(({ settings }) =>
    JSON.stringify(settings)
  )
  expect(new Set(all).size).toBe(all.length)
})

test.each(
  [...reportedConfigurations, ...furtherConfigurations].map(each => ({
    name: JSON.stringify(each.settings),
    ...each
  }))
)(
  'config check and the start reject $name with the same message',
  async ({ settings, key, advice, shown }) => {
    useEnvironment(settings)
    const message = checked()
    await expect(startShop(async () => standardModules)).rejects.toThrow(new Error(message))
    const line = message.split('\n').find(each => each.includes(key)) ?? message
    expect(line).toContain(key)
    expect(line).toMatch(advice)
    if (typeof shown === 'string') expect(line).toContain(shown)
    else expect(message).not.toContain(shown.hidden)
  }
)

/** Files that may throw an OperatorError which no check of settings can foresee, and why. */
const KNOWN_LATER = {
  'src/modules/auth/accounts/first-admin.ts': 'a customer may have the address of the administrator',
  'src/modules/payments/reconciliation/service.ts': 'a provider may not answer a command'
}

test('no module rejects settings while it is set up, because config check runs every check before the start', async () => {
  const sources = await readSources()
  const refusing = sources.filter(
    ({ path, text }) =>
      path.startsWith('src/modules/') && !path.endsWith('.test.ts') && text.includes('new OperatorError')
  )
  expect(refusing.map(({ path }) => path).sort()).toEqual(Object.keys(KNOWN_LATER))
})
