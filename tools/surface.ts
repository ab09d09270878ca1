/**
 * Compares the public surface of two versions: `node tools/surface.ts <commit> [commit]`, without a second commit the working tree.
 * Renames of docs/glossary.md are applied to the first. Exits with 1 when names are left that only one of them has.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { compareSurfaces, readColumns, readRenames, readSurface } from './public-surface.ts'

const GLOSSARY = 'docs/glossary.md'

const [before, after] = process.argv.slice(2)
if (before === undefined) {
  console.error('Usage: npm run surface <commit> [commit]')
  process.exit(2)
}

/** Runs `work` in a folder that has the files of a commit. */
async function withFiles<T>(commit: string, work: (root: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cartwright-surface-'))
  try {
    const archive = execFileSync('git', ['archive', commit, 'src', 'docs', 'openapi.json'], {
      maxBuffer: 1 << 28
    })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const folder = mkdtempSync(join(tmpdir(), 'cartwright-surface-database-'))
// The database server may run as another user.
chmodSync(folder, 0o755)
const database = await openEmbeddedPostgres({ folder, mode: 'own' })
const read = async (root: string) => ({
  surface: new Map([...readSurface(root), ['columns', await readColumns(root, database.url)]]),
  // Earlier versions have none.
  glossary: existsSync(join(root, GLOSSARY)) ? readFileSync(join(root, GLOSSARY), 'utf8') : ''
})
try {
  const old = await withFiles(before, read)
  const now = after === undefined ? await read('.') : await withFiles(after, read)
  const differences = compareSurfaces(old.surface, now.surface, readRenames(now.glossary))
  for (const { kind, renamed, gone, added } of differences) {
    console.log(`${kind}: ${renamed} renamed, ${gone.length} gone, ${added.length} new`)
    for (const name of gone) console.log(`  - ${name}`)
    for (const name of added) console.log(`  + ${name}`)
  }
  if (differences.some(({ gone, added }) => gone.length + added.length > 0)) process.exitCode = 1
} finally {
  await database.stop()
  rmSync(folder, { recursive: true, force: true })
}
