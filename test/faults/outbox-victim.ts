import { newId } from '../../src/kernel/ids.ts'
import { openTestShop } from '../../src/testing.ts'
import { bellModule, earModule, note } from '../support/bells.ts'

/**
 * A process that emits events and is killed: `after_commit`; `mid_batch`, while it handles a batch; or `poison`, each time
 * it handles the poison event.
 */
const [databaseUrl = '', moment = '', count = ''] = process.argv.slice(2)
const POISON = 3
const bell = bellModule()
const ear = earModule('ear', async (tx, events) => {
  await note(tx, 'ear', events)
  const isPoisoned = moment === 'poison' && events.some(({ payload }) => payload.nth === POISON)
  if (moment === 'mid_batch' || isPoisoned) process.kill(process.pid, 'SIGKILL')
})
const shop = await openTestShop({ modules: [bell, ear], databaseUrl })
await shop.db.transaction(async tx => {
  for (let nth = 1; nth <= Number(count); nth += 1) shop.apiOf(bell)?.ring(tx, newId(), nth)
})
if (moment === 'after_commit') process.kill(process.pid, 'SIGKILL')
