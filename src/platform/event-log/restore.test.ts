import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useEmptyDatabase } from '../../../test/support/database.ts'
import { chimeModule, openEmitter, waitForNths } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { standardModules } from '../../app.ts'
import { migrationSources } from '../../module.ts'
import { backUpDatabase } from '../backup/backup.ts'
import { restoreDatabase } from '../backup/restore.ts'

const chime = chimeModule()

async function useChime(databaseUrl?: string) {
  const shop = await useShop({ modules: [chime], databaseUrl })
  const ring = (nth: number) => shop.apiOf(chime)?.ring([nth])
  const nths = async () =>
    (await shop.platform.eventLog.read({ after: 0, limit: 100, modules: null })).items.map(
      ({ payload }) => (payload as { nth: number }).nth
    )
  return { ...shop, ring, nths, waitFor: (count: number) => waitForNths(nths, count) }
}

test('a restored log continues with the next position, and rejects the cursors of what was lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-restore-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'backup')
  const source = await useChime()
  await source.ring(1)
  await source.waitFor(1)
  // A transaction that is open during the backup, so its id is missing in the restored log.
  const emitter = await openEmitter(source.databaseUrl, 2)
  const progress = () => {}
  await backUpDatabase(source.databaseUrl, file, { version: 'test', progress })
  await emitter.commit()
  await source.ring(3)
  expect(await source.waitFor(3)).toEqual([1, 2, 3])

  const { url } = await useEmptyDatabase()
  await restoreDatabase(url, file, { modules: migrationSources(standardModules), progress })
  const restored = await useChime(url)
  expect(await restored.nths()).toEqual([1])
  await expect(restored.platform.eventLog.read({ after: 3, limit: 10, modules: null })).rejects.toMatchObject(
    { code: 'EVENTS_CURSOR_AHEAD' }
  )
  await restored.ring(4)
  expect(await restored.waitFor(2)).toEqual([1, 4])
})
