import { afterAll, beforeAll, test } from 'vitest'
import { standardModules } from '../../src/app.ts'
import { listOpenApiRoutes, type OpenApiPaths } from '../../src/cli/routes.ts'
import { configSchema } from '../../src/config-schema.ts'
import type { Module } from '../../src/module.ts'
import { createTestApp, type TestApp } from '../support/app.ts'
import { readExposition } from '../support/exposition.ts'
import { expectPage, tableOf } from '../support/generated-page.ts'

let app: TestApp
beforeAll(async () => {
  app = await createTestApp()
})
afterAll(() => app.close())

const modules: readonly Module[] = standardModules
const names = standardModules.map(({ name }) => name)

/** A section for each module that has entries, then for what belongs to none, such as the routes of guests. */
function byModule<T extends { module: string }>(all: readonly T[], table: (own: T[]) => string): string {
  return [...new Set(['shop', ...names, ...all.map(({ module }) => module)])]
    .map(name => ({ name, own: all.filter(({ module }) => module === name) }))
    .filter(({ own }) => own.length > 0)
    .map(({ name, own }) => `## ${name}\n\n${table(own)}`)
    .join('\n\n')
}

test('docs/reference/routes.md lists every route', async () => {
  const document: OpenApiPaths = (await app.request('GET', '/openapi.json')).json
  await expectPage('reference/routes.md', () =>
    byModule(listOpenApiRoutes(document), own =>
      tableOf(
        ['route', 'tier', 'what it does'],
        own.map(({ method, path, tier, summary }) => [`\`${method} ${path}\``, tier, summary])
      )
    )
  )
})

test('docs/reference/ports.md lists every port with its owner and its built-in providers', async () => {
  const ports = modules.flatMap(({ name: module, ports = [] }) => ports.map(port => ({ module, port })))
  await expectPage('reference/ports.md', () =>
    byModule(ports, own =>
      tableOf(
        ['port', 'what its providers do', 'providers', 'built-in modules that provide it'],
        own.map(({ port }) => [
          `\`${port.name}\``,
          port.description,
          `${port.providers === 'one' ? 'at most one' : 'any number'}${port.isRequired ? ', required' : ''}`,
          modules
            .filter(({ provides }) => provides?.includes(port))
            .map(({ name }) => name)
            .join(', ')
        ])
      )
    )
  )
})

/** Those of the process itself, which differ between systems. */
const OF_RUN_TIME = /^(?:process|nodejs)_/

test('docs/reference/metrics.md lists every metric', async () => {
  const { families } = readExposition((await app.request('GET', '/metrics')).text)
  const metrics = [...families]
    .filter(([name]) => !OF_RUN_TIME.test(name))
    .map(([name, { type, help, samples }]) => {
      const labels = new Set(samples.flatMap(each => Object.keys(each.labels)))
      labels.delete('le')
      const module = names.find(each => name.startsWith(`cartwright_${each}_`)) ?? 'shop'
      return { name, type, help, labels: [...labels].join(', '), module }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  await expectPage('reference/metrics.md', () =>
    byModule(metrics, own =>
      tableOf(
        ['metric', 'type', 'labels', 'what it counts'],
        own.map(({ name, type, labels, help }) => [`\`${name}\``, type, labels, help])
      )
    )
  )
})

type Setting = {
  properties?: Record<string, Setting>
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: string[]
  minimum?: number
  maximum?: number
}

const WORDS: Readonly<Record<string, string>> = {
  array: 'list',
  boolean: 'yes or no',
  integer: 'whole number',
  string: 'text'
}
/** More than these a reader does not want to read: the currencies. */
const WORDS_SHOWN_MAX = 20

/** What may stand there, in words. */
function formOf({ type, enum: words, minimum, maximum }: Setting): string {
  if (words !== undefined)
    return words.length > WORDS_SHOWN_MAX ? 'one of a list' : words.map(word => `\`${word}\``).join(', ')
  const [plain = ''] = [type].flat()
  const said = WORDS[plain] ?? plain
  return minimum === undefined ? said : `${said}, ${minimum} to ${maximum}`
}

const settingsOf = (schema: Setting, path: readonly string[] = []): [string, Setting][] =>
  Object.entries(schema.properties ?? {}).flatMap(([key, setting]) =>
    setting.properties === undefined
      ? [[[...path, key].join('.'), setting] as [string, Setting]]
      : settingsOf(setting, [...path, key])
  )

test('docs/reference/settings.md lists every setting', async () => {
  await expectPage('reference/settings.md', () =>
    tableOf(
      ['setting', 'values', 'default', 'description'],
      settingsOf(configSchema(standardModules) as Setting).map(([key, setting]) => [
        `\`${key}\``,
        formOf(setting),
        `\`${JSON.stringify(setting.default)}\``,
        setting.description ?? ''
      ])
    )
  )
})
