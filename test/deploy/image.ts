import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { variablesOf } from './settings-files.ts'

const DOCKERFILE = new URL('../../deploy/image/Dockerfile', import.meta.url)

/** What the Dockerfile says about a container: its environment, user, and commands. */
export async function readDockerfile() {
  const text = (await readFile(DOCKERFILE, 'utf8')).replaceAll('\\\n', ' ')
  const value = (instruction: string) => {
    const [, found = ''] = new RegExp(`^${instruction}\\s+(.*)$`, 'm').exec(text) ?? []
    return found
  }
  const command = (instruction: string) =>
    JSON.parse(value(instruction).replace(/^.*?(?=\[)/, '')) as string[]
  return {
    environment: variablesOf(value('ENV')),
    user: value('USER'),
    entrypoint: command('ENTRYPOINT'),
    command: command('CMD'),
    healthcheck: command('HEALTHCHECK')
  }
}

const READ_ONLY = 'mount -o remount,ro,bind / && mount -t tmpfs tmpfs "$0" && exec setpriv "$@"'
/** Only root can start a process as another user, with a file system that it cannot write. */
export const canContain = userInfo().uid === 0 && process.platform === 'linux'
if (!canContain)
  console.warn('Only root on Linux can contain a process, so the tests of the image are skipped.')

/**
 * A command that runs another one as a container would: as this user, without rights, and on a read-only file system but for
 * the folder `temporary`, which is in memory.
 */
export function contained(user: string, temporary: string): readonly string[] {
  const [uid, gid] = user.split(':')
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  const rights = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all']
  return ['unshare', '--mount', 'sh', '-ec', READ_ONLY, temporary, ...identity, ...rights, '--']
}
