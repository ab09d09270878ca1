import { spawnSync } from 'node:child_process'

/** What test:fast starts from. */
export type Changes = { since: string; paths: string[] }

/**
 * What has changed since the branch left origin/main; without that branch, since the commit before the last one. Files that are
 * not committed yet count.
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
  const fresh = git('ls-files', '--others', '--exclude-standard') ?? []
  return { since, paths: [...new Set([...changed, ...fresh])].sort() }
}
