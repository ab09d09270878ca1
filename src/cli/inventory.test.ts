import { expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { runSql } from '../../test/support/sql.ts'

test('the command "inventory check" prints one line per discrepancy, and --repair repairs it', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const check = (...options: string[]) =>
    runCommandLine(['inventory', 'check', ...options], { settings: { DATABASE_URL: url } })
  expect(await check()).toEqual({ code: 0, out: 'No discrepancies found.\n', errors: '' })

  const [level] = await runSql(
    url,
    `with item as (insert into inventory.items (id, tracked) values (gen_random_uuid(), true) returning id)
    insert into inventory.levels (item_id, location_id, on_hand, seq)
    select item.id, locations.id, 5, 1 from item, inventory.locations returning item_id, location_id`
  )
  const line = `level_ahead: item ${level.item_id}, location ${level.location_id}: the level is at 1, the last movement is 0\n`
  expect(await check()).toEqual({ code: 1, out: `${line}1 found, 0 repaired.\n`, errors: '' })
  const { total, repaired } = JSON.parse((await check('--json')).out)
  expect([total, repaired]).toEqual([1, 0])
  expect(await check('--repair')).toEqual({ code: 0, out: `${line}1 found, 1 repaired.\n`, errors: '' })
  expect(await check()).toEqual({ code: 0, out: 'No discrepancies found.\n', errors: '' })
})
