import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { SOURCE, startProgram } from '../../test/support/program.ts'
import { SECRET_SETTINGS } from '../../test/support/secrets.ts'

/** Writes the URL of each file that the program loads to stderr. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => { console.error('loads ' + url); return next(url, context) } })`)}`

test('a production shop that lists its payment methods has loaded no file of the payment sandbox', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright production '))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const { child, listening, ended, output } = startProgram(
    {
      ...SECRET_SETTINGS,
      NODE_ENV: 'production',
      NODE_OPTIONS: `--import ${HOOK}`,
      CARTWRIGHT_DATA: folder,
      DATABASE_URL: database.url
    },
    { main: SOURCE }
  )
  const answer = await fetch(`${await listening}/api/payments/methods`)
  expect(await answer.json()).toEqual({ items: [] })
  child.kill('SIGKILL')
  await ended
  expect(output.stderr).toContain('/src/modules/payments/providers/enabled.ts')
  expect(output.stderr).not.toContain('/src/payment-sandbox/')
})
