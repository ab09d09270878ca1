import { spawnSync } from 'node:child_process'

/** The changed files from which test:fast selects tests. */
export type Changes = { since: string; paths: string[] }

/**
 * Lists the files that changed since the branch left origin/main, or without that branch since the previous commit.
 * Includes files that are not committed.
 */
export function changesIn(root: string): Changes {
  const git = (...words: string[]): string[] | undefined => {
    const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
    return status === 0 ? stdout.split('\n').filter(line => line !== '') : undefined
  }
  const [fork] = git('merge-base', 'HEAD', 'origin/main') ?? []
  const [since] = git('rev-parse', '--short', fork ?? 'HEAD~1') ?? git('rev-parse', '--short', 'HEAD') ?? []
  if (since === undefined) throw new Error('test:fast needs git to see what has changed; npm test does not.')
  const changed = git('diff', '--name-only', since) ?? []
  const untracked = git('ls-files', '--others', '--exclude-standard') ?? []
  return { since, paths: [...new Set([...changed, ...untracked])].sort() }
}
