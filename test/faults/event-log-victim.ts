import { openTestShop } from '../../src/testing.ts'
import { chimeModule } from '../support/event-log.ts'
import { emitUntilEnough } from './event-log-writer.ts'

/** A process that emits events and gives positions, until there are enough events or it is killed. */
const [databaseUrl = '', count = ''] = process.argv.slice(2)
const shop = await openTestShop({ modules: [chimeModule()], databaseUrl, isMigrated: true })
await emitUntilEnough(shop, Number(count))
process.stdout.write('done\n')
