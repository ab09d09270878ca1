import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { freePort } from './free-port.ts'
import { type GuideStep, readGuideSteps, runGuideSteps, writeGuideFiles } from './guide-steps.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PACKED = ['src', 'docs', 'demo', 'tools', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
export const MODULES = join(ROOT, 'node_modules')

/** Runs a program to its end. Nothing that it does may need a network. */
export async function run(file: string, args: string[], cwd: string): Promise<string> {
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
const installing: GuideStep[] = [
  { path: 'package.json', code: '{ "type": "module" }' },
  ...readGuideSteps(installGuide)
]

const GUIDES = { 'tutorial.md': tutorial, 'publishing-a-module.md': installing }

/**
 * Installs the packed project for copies of the example packages, with the packed module of one of them. `shop` is the shop of
 * that example. The files of the tutorial are beside them.
 */
export async function installPackage() {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright a package-'))
  // The embedded database works as a user of its own, who has to get in.
  await chmod(folder, 0o755)
  const examples = join(folder, 'examples')
  const shop = join(examples, 'wishlist')
  await cp(join(ROOT, 'examples'), examples, { recursive: true })
  await writeGuideFiles(tutorial, join(examples, 'tutorial'))
  await install(await pack(folder), examples)
  await installModule(shop, join(examples, 'node_modules'))
  return {
    examples,
    shop,
    /** Follows the steps of a guide in an empty folder. */
    paste: async (guide: keyof typeof GUIDES) => {
      const steps = GUIDES[guide]
      expect(steps.length).toBeGreaterThan(5)
      const empty = await mkdtemp(join(folder, 'a reader-'))
      await chmod(empty, 0o755)
      const modules = join(examples, 'node_modules')
      await runGuideSteps(steps, { folder: empty, modules, port: await freePort() })
    },
    remove: () => rm(folder, { recursive: true, force: true })
  }
}
