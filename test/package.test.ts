import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { readGuideSteps, runGuideSteps, writeGuideFiles } from './support/guide-steps.ts'
import { startProgram } from './support/program.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKED = ['src', 'docs', 'demo', 'tools', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
const MODULES = join(ROOT, 'node_modules')

/** Runs a program to its end. Nothing that it does may need a network. */
async function run(file: string, args: string[], cwd: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  const { stdout } = await promisify(execFile)(file, args, { cwd, env }).catch(error => {
    throw new Error(`${file} ${args.join(' ')}:\n${error.stdout}\n${error.stderr}`)
  })
  return stdout
}

/** Packs a copy of the project, so that its own folder stays as it is. */
async function pack(folder: string): Promise<string> {
  const project = join(folder, 'project')
  const entries = [...PACKED, 'README.md', 'LICENSE', 'CHANGELOG.md', 'config.example.yaml']
  for (const entry of entries) await cp(join(ROOT, entry), join(project, entry), { recursive: true })
  await symlink(MODULES, join(project, 'node_modules'))
  const output = await run('npm', ['run', '--silent', 'pack', '--', '--pack-destination', folder], project)
  return join(folder, String(output.trim().split('\n').at(-1)))
}

/** What `npm install` makes of the tarball; the packages that it needs are those of the project. */
async function install(tarball: string, folder: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  await run('tar', ['xzf', tarball, '-C', modules], folder)
  await rename(join(modules, 'package'), join(modules, 'cartwright'))
  const manifest = JSON.parse(await readFile(join(modules, 'cartwright/package.json'), 'utf8'))
  const needed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  for (const name of [...needed, '@types/node']) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(join(MODULES, name), join(modules, name))
  }
}

/** Packs the example of a module that is published, and installs it beside the package. */
async function installModule(module: string, modules: string): Promise<void> {
  await mkdir(join(modules, '.bin'))
  await symlink(join(MODULES, '.bin/tsc'), join(modules, '.bin/tsc'))
  const packed = (await run('npm', ['pack', '--silent'], module)).trim()
  expect(await pageOf('publishing-a-module.md')).toContain(`\n${packed}\n`)
  const folder = join(modules, 'cartwright-wishlist')
  await mkdir(folder)
  await run('tar', ['xzf', join(module, packed), '-C', folder, '--strip-components', '1'], module)
}

const pageOf = (name: string) => readFile(join(ROOT, 'docs', name), 'utf8')
const tutorial = readGuideSteps(await pageOf('tutorial.md'))
/** What the owner of a shop does to install a module. */
const [, installGuide = ''] = (await pageOf('publishing-a-module.md')).split('\n## Install a module\n')
const installing = [{ path: 'package.json', code: '{ "type": "module" }' }, ...readGuideSteps(installGuide)]

/**
 * The example packages and the files of the tutorial in a folder of their own, beside the package as it is packed and the
 * packed module; the shop of one of them; and an empty folder for each test.
 */
let examples: string
let shop: string
let newFolder: () => Promise<string>
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright a package-'))
  // The embedded database works as a user of its own, who has to get in.
  await chmod(folder, 0o755)
  examples = join(folder, 'examples')
  shop = join(examples, 'wishlist')
  newFolder = () => mkdtemp(join(folder, 'a reader-'))
  await cp(join(ROOT, 'examples'), examples, { recursive: true })
  await writeGuideFiles(tutorial, join(examples, 'tutorial'))
  await install(await pack(folder), examples)
  await installModule(shop, join(examples, 'node_modules'))
  return () => rm(folder, { recursive: true, force: true })
})

test('the example packages compile against the types of the package, which reject mistakes', {
  timeout: 120_000
}, async () => {
  const wrong = `
    import { createShop, standardModules, wire } from 'cartwright'
    // @ts-expect-error: there is no such setting
    createShop({ modules: standardModules, config: { shop: { curency: 'EUR' } } })
    // @ts-expect-error: the name of a request says that it is one
    wire.request('Wish', {})
    import { wishlistModule } from 'cartwright-wishlist'
    // @ts-expect-error: the installed module has this setting, but not of this type
    createShop({ modules: [...standardModules, wishlistModule], config: { wishlist: { wishes_max: 'many' } } })`
  await writeFile(join(shop, 'wrong.ts'), wrong)
  // The declarations of the package are checked only here, because that takes 5 of 7 CPU-seconds.
  const compilerOptions = { skipLibCheck: false }
  const all = { extends: './wishlist/tsconfig.json', compilerOptions, include: ['*/**/*.ts'] }
  await writeFile(join(examples, 'tsconfig.json'), JSON.stringify(all))
  await run(join(MODULES, '.bin/tsc'), ['--noEmit', '--singleThreaded'], examples)
})

test.each([
  ['wishlist', ['wishlist.test.ts', 'wishlist/wishes/routes.test.ts'], 2],
  ['gift-cards', ['gift-cards.test.ts'], 5],
  ['payment-provider', ['acme-pay.test.ts'], 20],
  ['carrier', ['acme-parcels.test.ts'], 28],
  ['extension-points', ['extension-points.test.ts'], 25]
])('the tests of the example %s pass', { timeout: 180_000 }, async (folder, files, passed) => {
  const output = await run(process.execPath, ['--test', ...files], join(examples, folder))
  expect(output).toContain(`pass ${passed}`)
})

test.each([
  ['tutorial.md', tutorial],
  ['publishing-a-module.md', installing]
])(
  'docs/%s can be pasted to its last line, and each step prints what it shows',
  {
    timeout: 180_000
  },
  async (_, steps) => {
    expect(steps.length).toBeGreaterThan(5)
    const folder = await newFolder()
    await chmod(folder, 0o755)
    const modules = join(examples, 'node_modules')
    await runGuideSteps(steps, { folder, modules, port: await freePort() })
  }
)

test("the command line of a shop that uses the package knows the shop's modules, and finds the bundled files", {
  timeout: 120_000
}, async () => {
  const main = join(shop, 'shop.ts')
  const { listening, child, ended } = startProgram({}, { main, cwd: shop })
  onTestFinished(() => void child.kill('SIGKILL'))
  const address = await listening
  const document = await (await fetch(`${address}/openapi.json`)).json()
  expect(document).toHaveProperty(['paths', '/api/wishlist/{id}'])
  expect((await fetch(`${address}/api/wishlist`)).status).toBe(401)
  const page = await (await fetch(address, { headers: { accept: 'text/html' } })).text()
  expect(page).toContain('/guides/storefront.md')
  for (const path of ['/docs', '/docs/main.js', '/shop', '/guides/storefront.md', '/demo/fika-mug.svg'])
    expect((await fetch(address + path)).status, path).toBe(200)
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, stderr: '' })

  const help = await run(process.execPath, [main, 'help', 'migrate'], shop)
  expect(help).toContain('node shop.ts migrate')
  await expect(run(process.execPath, [main, 'serve'], shop)).rejects.toThrow('See "node shop.ts --help"')
  await expect(run(process.execPath, [main, 'chaos'], shop)).rejects.toThrow(
    /^.* chaos:\n\nThe chaos suite is not in the package\. [^\n]*\n$/
  )
})

test('in a shop that uses the package the diagnostics thread starts, and reports that its port is in use', {
  timeout: 120_000
}, async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const settings = { DATABASE_URL: database.url, CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port) }
  const { ended } = startProgram(settings, { main: join(shop, 'shop.ts'), cwd: shop })
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining(`${port}`) })
  expect((await ended).stderr).toContain('in use')
})
