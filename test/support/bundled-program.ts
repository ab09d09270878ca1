import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import type { TestProject } from 'vitest/node'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SCRIPT = '. tools/program.sh && wait && . tools/program.sh && echo "$PROGRAM"'
/** Programs that tests start and kill, in test/faults. */
const VICTIMS = ['request-victim', 'outbox-victim', 'outbox-program', 'stock-buyer', 'event-log-victim']
const VICTIMS_FOLDER = join(ROOT, 'node_modules/.cache/victims')

/**
 * Processes of tests start the bundle, as `npm start` does. It is built first when a source has changed. A start takes 0.4
 * CPU-seconds instead of 0.75 (2026-11). `TEST_PROGRAM=src/main.ts` starts the sources instead.
 */
export async function setup({ vitest }: TestProject): Promise<void> {
  // In watch mode, sources change between runs.
  if (vitest.config.watch || process.env.TEST_PROGRAM !== undefined) return
  const program = execFileSync('sh', ['-ec', SCRIPT], { cwd: ROOT, encoding: 'utf8' }).trim()
  if (haveSourcesChanged()) await bundleVictims()
  process.env.TEST_VICTIMS = VICTIMS_FOLDER
  // One made in the meantime is another folder.
  process.env.TEST_PROGRAM = realpathSync(join(ROOT, program))
}

function haveSourcesChanged(): boolean {
  const stamp = join(VICTIMS_FOLDER, 'made-in')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== ROOT) return true
  const newer = ['src', 'test', 'examples', 'package-lock.json', '-cnewer', stamp, '-print', '-quit']
  return execFileSync('find', newer, { cwd: ROOT }).length > 0
}

/** To load a bundle takes 0.4 CPU-seconds less than to load the sources (2026-11). */
async function bundleVictims(): Promise<void> {
  const fresh = `${VICTIMS_FOLDER}-${process.pid}`
  await mkdir(fresh, { recursive: true })
  // What is changed from now on is newer.
  await writeFile(join(fresh, 'made-in'), ROOT)
  await using bundle = await rolldown({
    input: VICTIMS.map(name => join(ROOT, 'test/faults', `${name}.ts`)),
    platform: 'node',
    external: id => id !== 'cartwright' && /^[^./]/.test(id),
    resolve: { alias: { cartwright: join(ROOT, 'src/index.ts') } },
    // Files are found from where the source lies, not from where the bundle does.
    plugins: [
      {
        name: 'addresses',
        transform: (code, id) => {
          const source = JSON.stringify(relative(VICTIMS_FOLDER, id))
          return code.replaceAll('import.meta.url', `new URL(${source}, import.meta.url).href`)
        }
      }
    ],
    logLevel: 'silent'
  })
  await bundle.write({ dir: fresh, entryFileNames: '[name].mjs' })
  await rm(VICTIMS_FOLDER, { recursive: true, force: true })
  try {
    await rename(fresh, VICTIMS_FOLDER)
  } catch {
    // Another run was faster.
    await rm(fresh, { recursive: true })
  }
}
