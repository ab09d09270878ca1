import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import { type Program, startProgram } from './program.ts'

/** A file that the reader of a guide creates or replaces. */
type FileStep = { readonly path: string; readonly code: string }
/** Commands that the reader pastes into a shell, and what the guide shows of their output. */
type CommandStep = {
  readonly commands: string
  readonly prints: string | undefined
  /** The guide says that the output changes soon: the commands are repeated until they print what it shows. */
  readonly isEventual: boolean
}
export type GuideStep = FileStep | CommandStep

const BLOCK = /^```(\w+)\n(.*?)^```$/gms
const NAMED_FILE = /\b(?:create|replace|change|in)\s+`([\w./-]+\.\w+)`/gi
const START = 'node shop.ts start\n'
const INSTALL = /^npm install .*$/gm
const ADDRESS = 'http://127.0.0.1:8080'

/**
 * Reads the blocks of a guide as steps. The paragraph before the code of a file names the file; a block of text is what the
 * commands before it print.
 */
export function readGuideSteps(guide: string): GuideStep[] {
  const steps: GuideStep[] = []
  for (const { index, 1: language, 2: code = '' } of guide.matchAll(BLOCK)) {
    const paragraph = guide.slice(0, index).trimEnd().split('\n\n').at(-1) ?? ''
    if (language === 'sh')
      steps.push({ commands: code, prints: undefined, isEventual: paragraph.includes('A second later') })
    else if (language === 'text') {
      const commands = steps.pop()
      if (commands === undefined || !('commands' in commands)) throw new Error(`no command prints ${code}`)
      steps.push({ ...commands, prints: code })
    } else {
      const path = [...paragraph.matchAll(NAMED_FILE)].at(-1)?.[1]
      if (path === undefined) throw new Error(`no file is named before ${code}`)
      steps.push({ path, code })
    }
  }
  return steps
}

/** Writes the files of a guide into a folder, as they are at its end, in a package of ES modules. */
export async function writeGuideFiles(steps: readonly GuideStep[], folder: string): Promise<void> {
  const manifest = { path: 'package.json', code: '{ "type": "module" }' }
  for (const step of [manifest, ...steps]) if ('path' in step) await writeFileIn(folder, step)
}

async function writeFileIn(folder: string, { path, code }: FileStep): Promise<void> {
  const file = join(folder, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, code)
}

type GuideOptions = {
  /** The folder in which the reader begins. */
  folder: string
  /** What `npm install` makes: the folder is linked instead. */
  modules: string
  /** The port of the shop, instead of the one in the guide. */
  port: number
}

const run = promisify(execFile)

/** Does what the guide says, in its order, and compares the output of commands with what it shows. `…` stands for any text. */
export async function runGuideSteps(
  steps: readonly GuideStep[],
  { folder, modules, port }: GuideOptions
): Promise<void> {
  const address = `http://127.0.0.1:${port}`
  const here = (text: string) => text.replaceAll(ADDRESS, address)
  // Nothing may need a network.
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false'
  }
  let cwd = folder
  let shop: Program | undefined

  const expectOutput = (output: string, prints: string | undefined) => {
    if (prints !== undefined) expect(output.trimEnd()).toMatch(patternOf(here(prints)))
  }
  async function stopShop(): Promise<void> {
    shop?.child.kill('SIGINT')
    if (shop !== undefined) expect(await shop.ended).toMatchObject({ code: 0, stderr: '' })
  }
  async function startShop(prints: string | undefined): Promise<void> {
    await stopShop()
    shop = startProgram({ PORT: String(port) }, { main: join(cwd, 'shop.ts'), cwd })
    await shop.listening
    expectOutput(shop.output.stdout, prints)
  }
  /** Runs commands in the present folder, and follows them into another one. */
  async function runCommands(commands: string): Promise<string> {
    const place = join(folder, 'place')
    const script = here(commands).replace(INSTALL, `ln -sfn '${modules}' node_modules`)
    const flags = ['--norc', '-euo', 'pipefail', '-c', `${script}\npwd > '${place}'`]
    const { stdout } = await run('bash', flags, { cwd, env }).catch(error => {
      throw new Error(`${commands}${error.stdout}\n${error.stderr}`)
    })
    cwd = (await readFile(place, 'utf8')).trim()
    return stdout
  }

  try {
    for (const step of steps) {
      if ('path' in step) await writeFileIn(cwd, { ...step, code: here(step.code) })
      else if (step.commands === START) await startShop(step.prints)
      else if (step.isEventual)
        await eventually(async () => expectOutput(await runCommands(step.commands), step.prints))
      else expectOutput(await runCommands(step.commands), step.prints)
    }
    await stopShop()
  } finally {
    shop?.child.kill('SIGKILL')
  }
}

/** Matches a text in which `…` stands for any text. */
const patternOf = (text: string): RegExp =>
  new RegExp(`^${text.trimEnd().split('…').map(RegExp.escape).join('[^]*?')}$`)
