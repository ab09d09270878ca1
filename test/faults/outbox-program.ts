import { once } from 'node:events'
import { defineModule, runCli } from '../../src/index.ts'
import { defineJob } from '../../src/kernel/events.ts'

/** The program with a job that runs until it is aborted. */
const wait = defineJob(
  'patience.wait',
  { description: 'Waits until it is aborted.', timeoutSeconds: 600 },
  {}
)
const patience = defineModule({
  name: 'patience',
  description: 'Waits.',
  basePaths: [],
  requires: {},
  uses: {},
  jobs: [wait],
  setup: async () => ({
    api: {},
    jobHandlers: {
      'patience.wait': async (_job: unknown, signal: AbortSignal) => {
        await once(signal, 'abort')
        process.stdout.write('aborted\n')
      }
    }
  })
})
await runCli([patience])
