import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { standardModules } from './app.ts'
import { findDataFolderBeforeModulesLoad, isConfigValidWithoutModuleKeys, loadConfig } from './config.ts'
import { configSchema } from './config-schema.ts'
import { OperatorError } from './kernel/errors.ts'

const load = (environment: Record<string, string>) => loadConfig(standardModules, environment)

const EXAMPLE = new URL('../config.example.yaml', import.meta.url)

/** Returns the reported problems without their heading. */
function problemsOf(environment: Record<string, string>): string[] {
  try {
    load(environment)
    return []
  } catch (error) {
    expect(error).toBeInstanceOf(OperatorError)
    const [heading, ...lines] = (error as Error).message.split('\n')
    expect(heading).toBe('The configuration is wrong:')
    return lines.map(line => line.trim())
  }
}

async function useFile(yaml: string): Promise<{ CARTWRIGHT_CONFIG: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-config-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'config.yaml')
  await writeFile(file, yaml)
  return { CARTWRIGHT_CONFIG: file }
}

test('without a configuration file and environment variables the defaults apply', () => {
  const config = load({})
  expect(config).toMatchObject({
    environment: 'development',
    data: '.data',
    server: { port: 8080, host: '' },
    database: { url: '', pool_size: 8 },
    cart: { line_quantity_max: 99, lines_max: 200, idle_days: 30 },
    rate_limit: { enabled: true },
    modules: { cart: { enabled: true } },
    auth: { issuers: [], email_domains: [] }
  })
})

test('environment variables override the configuration file, and long variable names override short ones', async () => {
  const file = await useFile(
    'server: { port: 1001, host: 10.0.0.1, drain_seconds: 7 }\nshop: { name: Corner }\n'
  )
  const config = load({ CARTWRIGHT__SERVER__PORT: '1003', PORT: '1002', HOST: '::1', ...file })
  expect(config.server).toMatchObject({ port: 1003, host: '::1', drain_seconds: 7 })
  expect(config.shop.name).toBe('Corner')
})

test('a configuration passed as an object is read like a file and not modified', async () => {
  const file = await useFile('shop: { name: Elsewhere }')
  const content = { server: { port: 1 }, cart: { lines_max: 7 } }
  const config = loadConfig(standardModules, { ...file, PORT: '2' }, content)
  expect(config).toMatchObject({ server: { port: 2 }, cart: { lines_max: 7 }, shop: { name: 'Cartwright' } })
  expect(content).toEqual({ server: { port: 1 }, cart: { lines_max: 7 } })
  expect(() => loadConfig(standardModules, {}, { crat: {} })).toThrow(
    'crat: unknown key (did you mean cart?)'
  )
})

test('every short name of an environment variable sets its configuration key', () => {
  const config = load({
    PORT: '0',
    HOST: 'h',
    DATABASE_URL: 'postgres://localhost/db',
    REDIS_URL: 'rediss://:x@localhost:6380/2',
    NODE_ENV: 'production',
    CARTWRIGHT__SECRETS__KEYS: `[{ id: a, key: '${'0'.repeat(64)}' }]`,
    CARTWRIGHT_DATA: '/d',
    CARTWRIGHT_ADMIN_EMAIL: 'a@b.example',
    CARTWRIGHT_ADMIN_PASSWORD: 'seven quiet tubas'
  })
  expect(config).toMatchObject({
    environment: 'production',
    data: '/d',
    server: { port: 0, host: 'h' },
    database: { url: 'postgres://localhost/db' },
    cache: { url: 'rediss://:x@localhost:6380/2' },
    auth: { admin_email: 'a@b.example', admin_password: 'seven quiet tubas' }
  })
})

test.each(['test', 'development', ''])('the environment variable NODE_ENV=%s means development', NODE_ENV => {
  expect(load({ NODE_ENV }).environment).toBe('development')
})

test.each(['prod', 'Production', 'staging', 'live'])(
  'NODE_ENV=%s is rejected as an unknown environment',
  NODE_ENV => {
    expect(() => load({ NODE_ENV })).toThrow(
      `NODE_ENV: must be production, development or test (now "${NODE_ENV}")`
    )
  }
)

test('values from environment variables are converted to the type of their configuration key', () => {
  const config = load({
    CARTWRIGHT__MODULES__CART__ENABLED: 'false',
    CARTWRIGHT__SHOP__NAME: '42',
    CARTWRIGHT__CART__LINES_MAX: '50',
    CARTWRIGHT__AUTH__EMAIL_DOMAINS: '[one.example, two.example]',
    CARTWRIGHT__AUTH__ISSUERS: '[{ issuer: "https://login.example.com", audience: cartwright }]'
  })
  expect(config.modules.cart?.enabled).toBe(false)
  expect(config.shop.name).toBe('42')
  expect(config.cart.lines_max).toBe(50)
  expect(config.auth.email_domains).toEqual(['one.example', 'two.example'])
  expect(config.auth.issuers).toEqual([{ issuer: 'https://login.example.com', audience: 'cartwright' }])
})

const WHOLE = 'must be a whole number from'
test.each([
  ['CARTWRIGHT__MODULES__CART__ENABLED', 'flase', 'modules.cart.enabled: must be true or false', '"flase"'],
  ['CARTWRIGHT__MODULES__CART__ENABLED', '"true"', 'modules.cart.enabled: must be true or false', '"true"'],
  ['PORT', '80a', `server.port: ${WHOLE} 0 to 65535`, '"80a"'],
  ['PORT', '"8080"', `server.port: ${WHOLE} 0 to 65535`, '"8080"'],
  ['PORT', '8080.5', `server.port: ${WHOLE} 0 to 65535`, '8080.5'],
  ['PORT', '65536', `server.port: ${WHOLE} 0 to 65535`, '65536'],
  ['CARTWRIGHT_DATA', '', 'data: must not be empty', 'empty'],
  ['CARTWRIGHT__DATABASE__POOL_SIZE', '0', `database.pool_size: ${WHOLE} 1 to 200`, '0'],
  [
    'CARTWRIGHT__LOG__LEVEL',
    'loud',
    'log.level: must be one of: fatal, error, warn, info, debug, silent',
    '"loud"'
  ],
  [
    'CARTWRIGHT__SHOP__CURRENCY',
    'EURO',
    /^shop\.currency: must be one of \d+ known values, such as USD \(did you mean EUR\?\)/,
    '"EURO"'
  ],
  [
    'CARTWRIGHT__SHOP__TIME_ZONE',
    'Berlin',
    'shop.time_zone: must be the name of a time zone, such as Europe/Berlin',
    '"Berlin"'
  ],
  [
    'CARTWRIGHT__SHOP__TIME_ZONE',
    '',
    'shop.time_zone: must be the name of a time zone, such as Europe/Berlin',
    'empty'
  ],
  ['CARTWRIGHT__MODULES__CART', 'off', 'modules.cart: must be an object, with keys such as enabled', '"off"'],
  [
    'CARTWRIGHT__AUTH__EMAIL_DOMAINS',
    'one.example',
    'auth.email_domains: must be a list, such as [one, two]',
    '"one.example"'
  ],
  ['CARTWRIGHT__AUTH__EMAIL_DOMAINS', '[1]', 'auth.email_domains.0: must be text', '1'],
  ['CARTWRIGHT__AUTH__ISSUERS', '[{ audience: a }]', 'auth.issuers.0.issuer: is required', null],
  [
    'CARTWRIGHT__AUTH__ISSUERS',
    '[{ issuer: "https://a", audience: a, audiance: b }]',
    'auth.issuers.0.audiance: unknown key (did you mean audience?)',
    null
  ],
  // The value may contain a secret.
  ['CARTWRIGHT__SERVER', '5', 'server: must be an object, with keys such as host, port, public_url', null]
] as const)('the setting %s=%s is rejected with its reason', (name, value, problem, shown) => {
  const remarks = `(${shown === null ? '' : `now ${shown}, `}set by ${name})`
  const [line = '', ...others] = problemsOf({ [name]: value })
  expect(others).toEqual([])
  if (typeof problem === 'string') expect(line).toBe(`${problem} ${remarks}`)
  else expect(line).toMatch(problem)
  expect(line).toContain(remarks)
})

test.each([
  [
    'CARTWRIGHT__MODULES__KART__ENABLED',
    'true',
    'CARTWRIGHT__MODULES__KART__ENABLED: unknown key modules.kart.enabled (did you mean cart?)'
  ],
  ['CARTWRIGHT__SERVER__PORT__X', '1', 'CARTWRIGHT__SERVER__PORT__X: unknown key server.port.x, remove it'],
  [
    'CARTWRIGHT__',
    '1',
    'CARTWRIGHT__: unknown key , remove it or use a known one such as environment, data, shop'
  ],
  [
    'CARTWRIGHT____PROTO____X',
    '1',
    'CARTWRIGHT____PROTO____X: unknown key .proto..x, remove it or use a known one such as environment, data, shop'
  ],
  [
    'CARTWRIGHT__CONSTRUCTOR',
    '1',
    'CARTWRIGHT__CONSTRUCTOR: unknown key constructor, remove it or use a known one such as environment, data, shop'
  ],
  [
    'CARTWRIGHT_SERVER_PORT',
    '1',
    'CARTWRIGHT_SERVER_PORT: unknown variable (did you mean CARTWRIGHT__SERVER__PORT?)'
  ],
  ['CARTWRIGHT_DTA', '1', 'CARTWRIGHT_DTA: unknown variable (did you mean CARTWRIGHT_DATA?)']
])('the setting %s=%s is rejected, because there is no such key', (name, value, problem) => {
  expect(problemsOf({ [name]: value })).toEqual([problem])
})

test('a setting that must be a YAML list and is none is rejected with the reason', () => {
  expect(problemsOf({ CARTWRIGHT__AUTH__ISSUERS: '[{' })).toEqual([
    expect.stringMatching(
      /^auth\.issuers: must be valid YAML: .+ \(now "\[\{", set by CARTWRIGHT__AUTH__ISSUERS\)$/
    )
  ])
})

test('all problems of a configuration are reported together', async () => {
  const file = await useFile(
    [
      'enviroment: production',
      'server: { prot: 1, port: many, host: 7, drain_seconds: -1, body_bytes_max: 1, trust_proxy: 1 }',
      'database: { pool_size: 0, pool_wait_ms: x, statement_timeout_ms: 0, lock_timeout_ms: 0 }',
      'cart: 5',
      'toString: 1'
    ].join('\n')
  )
  expect(problemsOf({ ...file, PORTS: '1', CARTWRIGHT_ADMIN: 'x' }).sort()).toEqual(
    [
      'CARTWRIGHT_ADMIN: unknown variable (did you mean CARTWRIGHT_DATA?)',
      'cart: must be an object, with keys such as line_quantity_max, lines_max, idle_days (now 5)',
      'database.lock_timeout_ms: must be a whole number from 1 to 60000 (now 0)',
      'database.pool_size: must be a whole number from 1 to 200 (now 0)',
      'database.pool_wait_ms: must be a whole number from 50 to 60000 (now "x")',
      'database.statement_timeout_ms: must be a whole number from 1 to 600000 (now 0)',
      'enviroment: unknown key (did you mean environment?)',
      'server.body_bytes_max: must be a whole number from 1024 to 1048576 (now 1)',
      'server.drain_seconds: must be a whole number from 0 to 300 (now -1)',
      'server.host: must be text (now 7)',
      'server.port: must be a whole number from 0 to 65535 (now "many")',
      'server.prot: unknown key (did you mean port?)',
      'server.trust_proxy: must be true or false (now 1)',
      'toString: unknown key, remove it or use a known one such as environment, data, shop'
    ].sort()
  )
})

test('a configuration key without a value has its default', async () => {
  const file = await useFile('server:\n  port:\ncart:\nauth:\n  issuers:\n')
  expect(load(file)).toEqual(load({}))
  expect(load({ PORT: '' }).server.port).toBe(8080)
})

test.each(['', '# nothing but a comment\n', '{}'])(
  'an empty configuration file means the defaults',
  async yaml => {
    expect(load(await useFile(yaml))).toEqual(load({}))
  }
)

test('a configuration file that is not YAML is rejected with the line number, without quoting the line', async () => {
  const file = await useFile('shop:\n  name: Corner\nauth:\n  admin_password: "s3cret\n  x: [\n')
  expect(() => load(file)).toThrow(/^The configuration file .*config\.yaml is not YAML: .+ at line \d+/)
  expect(() => load(file)).not.toThrow(/s3cret|\n/)
})

test.each(['- a\n- b\n', 'text', '42'])('a configuration file without keys is rejected: %j', async yaml => {
  const file = await useFile(yaml)
  expect(() => load(file)).toThrow(/must hold keys and values/)
})

test('a configuration file that is named explicitly must exist', () => {
  expect(() => load({ CARTWRIGHT_CONFIG: '/no/such/file.yaml' })).toThrow(
    /^The configuration file \/no\/such\/file\.yaml cannot be read: it does not exist; create it/
  )
})

test.each([
  'postgres://user:s3cret#word@host/db',
  'postgres://user:s3cret/word@host/db',
  'mysql://user:s3cret@host/db',
  's3cret'
])('an invalid DATABASE_URL is reported without its value', url => {
  const [problem, ...others] = problemsOf({ DATABASE_URL: url })
  expect(problem).toMatch(/^database\.url: must look like postgres:\/\//)
  expect(others).toEqual([])
  expect(problem).not.toContain('s3cret')
})

test('an invalid REDIS_URL is reported without its value', () => {
  const [problem] = problemsOf({ REDIS_URL: 'localhost:s3cret' })
  expect(problem).toMatch(/^cache\.url: must look like redis:\/\//)
  expect(problem).not.toContain('s3cret')
})

test.each([
  'https://shop.example.com',
  'http://localhost:3000',
  'https://xn--caf-dma.example',
  'http://[::1]:3000',
  'capacitor://localhost'
])('the URL %s is accepted as a CORS origin', origin => {
  const config = load({ CARTWRIGHT__SERVER__CORS__ORIGINS: `["${origin}"]` })
  expect(config.server.cors.origins).toEqual([origin])
})

test.each([
  '*',
  'null',
  'shop.example.com',
  'https://shop.example.com/',
  'https://shop.example.com/shop',
  'https://Shop.example.com',
  'https://*.example.com',
  'https://user@shop.example.com',
  'https://shop.example.com:443',
  'http://shop.example.com:80',
  'https://café.example'
])('the URL %s is rejected as a CORS origin, with an example of a valid one', origin => {
  expect(problemsOf({ CARTWRIGHT__SERVER__CORS__ORIGINS: `["https://a.example", "${origin}"]` })).toEqual([
    expect.stringMatching(/^server\.cors\.origins\.1: must be an origin .*https:\/\/shop\.example\.com/)
  ])
})

test('no reported configuration problem contains the value of a secret', async () => {
  const file = await useFile(
    'auth: { admin_password: [s3cret], admin_email: { s3cret: 1 } }\ndatabase: { url: 53 }\n'
  )
  const problems = problemsOf({
    ...file,
    CARTWRIGHT__AUTH__ISSUERS: '{ s3cret: 1 }',
    CARTWRIGHT__SERVER__TRUSTED_CLIENTS: '[s3cret-is-short]'
  })
  expect(problems).toHaveLength(5)
  expect(problems.join()).toContain('server.trusted_clients.0: must be 32 to 512 visible ASCII characters')
  expect(problems.join()).not.toContain('s3cret')
})

test('a loaded configuration cannot be changed, at any depth', () => {
  const config = load({ CARTWRIGHT__AUTH__ISSUERS: '[{ issuer: "https://a", audience: a }]' })
  const parts: object[] = [config, config.server, config.modules, config.cart, config.auth.issuers]
  for (const part of [...parts, ...config.auth.issuers]) expect(Object.isFrozen(part)).toBe(true)
  expect(load({}).auth.issuers).not.toBe(load({}).auth.issuers)
})

test.each([
  [{}, '.data'],
  [{ CARTWRIGHT_DATA: '/d', CARTWRIGHT__CART__NONSENSE: '1', PORT: 'many' }, '/d'],
  [{ CARTWRIGHT_DATA: '/d', DATABASE_URL: '' }, '/d'],
  [{ CARTWRIGHT__DATA: '/e', CARTWRIGHT_DATA: '/d' }, '/e'],
  [{ DATABASE_URL: 'postgres://localhost/db' }, undefined],
  [{ CARTWRIGHT__DATABASE__URL: 'nonsense' }, undefined],
  [{ CARTWRIGHT__DATABASE: 'nonsense' }, undefined],
  [{ CARTWRIGHT_CONFIG: '/no/such/file.yaml' }, undefined]
])('before the modules are known, the environment %j gives the data folder %s', (environment, folder) => {
  expect(findDataFolderBeforeModulesLoad(environment)).toBe(folder)
})

test.each([
  [{}, true],
  [{ PORT: '0', CARTWRIGHT_DATA: '/d' }, true],
  [{ PORT: 'many' }, false],
  [{ CARTWRIGHT__DATABSE__URL: 'postgres://h/d' }, false],
  [{ CARTWRIGHT__CART__LINES_MAX: '5' }, false],
  [{ CARTWRIGHT__MODULES__CART__ENABLED: 'false' }, false]
])(
  'the environment %j is valid for the core settings, checked without any module: %s',
  (environment, isRight) => {
    expect(isConfigValidWithoutModuleKeys(environment)).toBe(isRight)
  }
)

test('the data folder is read from the configuration file, even when the file has other problems', async () => {
  expect(findDataFolderBeforeModulesLoad(await useFile('data: /f\ncart: 5\nserver: { prot: 1 }\n'))).toBe(
    '/f'
  )
  expect(findDataFolderBeforeModulesLoad(await useFile('data: 5\n'))).toBeUndefined()
  expect(
    findDataFolderBeforeModulesLoad(await useFile('data: /f\ndatabase: { url: "postgres://h/d" }\n'))
  ).toBeUndefined()
  expect(findDataFolderBeforeModulesLoad(await useFile('data: [\n'))).toBeUndefined()
})

type Property = {
  properties?: Record<string, Property>
  items?: Property
  type?: string
  writeOnly?: boolean
  description?: string
  default?: unknown
  enum?: string[]
  minimum?: number
  maximum?: number
}

/** Formats every key with its default, below its description and allowed values. */
function exampleOf(schema: Property, indent = ''): string {
  return Object.entries(schema.properties ?? {})
    .map(([key, property]) => {
      const said = [property.description ?? '', allowedOf(property)].filter(Boolean).join(' ')
      const comment = wrap(said, 108 - indent.length).map(line => `${indent}# ${line}\n`)
      if (property.properties === undefined)
        return `${comment.join('')}${indent}${stringify({ [key]: property.default })}`
      return `\n${comment.join('')}${indent}${key}:\n${exampleOf(property, `${indent}  `).replace(/^\n/, '')}`
    })
    .join('')
}

function allowedOf({ enum: values, minimum, maximum }: Property): string {
  if (values !== undefined) return values.length > 12 ? '' : `One of: ${values.join(', ')}.`
  return minimum === undefined ? '' : `From ${minimum} to ${maximum}.`
}

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart()
    if (line.length > width) lines.push(word)
    else lines[lines.length - 1] = line
  }
  return lines
}

test('config.example.yaml equals the file generated from the settings', async () => {
  const schema = configSchema(standardModules) as Property
  const example = `# ${schema.description}\n\n${exampleOf(schema)}`
  if (process.env.UPDATE_DOCS === '1') await writeFile(EXAMPLE, example)
  expect(await readFile(EXAMPLE, 'utf8'), 'npm run docs rewrites it').toBe(example)
})

test('config.example.yaml contains the default of every setting', async () => {
  expect(load({ CARTWRIGHT_CONFIG: fileURLToPath(EXAMPLE) })).toEqual(load({}))
})

test('settings that hold credentials are declared as secrets', () => {
  const spoken = /password|secret|token|^keys?$|_key$/
  const open = (schema: Property, path: string): string[] =>
    Object.entries({ ...schema.properties, ...(schema.items && { '[]': schema.items }) }).flatMap(
      ([key, inner]) => {
        const at = `${path}.${key}`
        if (inner.properties !== undefined || inner.items !== undefined) return open(inner, at)
        const name = key === '[]' ? (path.split('.').at(-1) ?? '') : key
        return spoken.test(name) && inner.type === 'string' && inner.writeOnly !== true ? [at] : []
      }
    )
  // One is sent to every browser, the other is the target of a link.
  const known = ['.notifications.links.reset_password', '.payments.stripe.publishable_key']
  expect(open(configSchema(standardModules) as Property, '').sort()).toEqual(known)
})
