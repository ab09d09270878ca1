import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bellModule, CREATE_EFFECTS, earModule } from '../support/bells.ts'
import { useShop } from '../support/use-shop.ts'
import { until } from './until.ts'

const VICTIM = fileURLToPath(new URL('./outbox-victim.ts', import.meta.url))
const EVENTS = 20

test.each(['after_commit', 'mid_batch'])(
  'events of a process that is killed %s are handled by another one, each once',
  async moment => {
    const shop = await useShop({ modules: [bellModule()] })
    await shop.sql(CREATE_EFFECTS)
    const victim = spawn(process.execPath, [VICTIM, shop.databaseUrl, moment, String(EVENTS)], {
      stdio: 'inherit'
    })
    const [, signal] = await once(victim, 'exit')
    expect(signal).toBe('SIGKILL')
    await useShop({ modules: [bellModule(), earModule('ear')], databaseUrl: shop.databaseUrl })
    await until(
      'all is handled',
      async () => {
        // Leases of the dead end now, and not in 15 seconds.
        await shop.sql(
          'update cartwright.jobs set due_at = now() where attempts = 1 and lease is not null and id > 0'
        )
        return (await shop.sql('select from cartwright.jobs where id > 0')).length === 0
      },
      30_000
    )
    const heard = await shop.sql('select nth from public.effects order by nth')
    expect(heard.map(({ nth }) => nth)).toEqual(Array.from({ length: EVENTS }, (_, index) => index + 1))
  }
)
