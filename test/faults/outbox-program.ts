import { defineModule, runCli } from '../../src/index.ts'
import { defineJob } from '../../src/kernel/events.ts'

/** The program with a job that takes as long as it is let. */
const wait = defineJob('patience.wait', { description: 'Waits for the end.', seconds: 600 }, {})
const patience = defineModule({
  name: 'patience',
  description: 'Waits.',
  basePaths: [],
  requires: {},
  uses: {},
  jobs: [wait],
  setup: async () => ({
    api: {},
    handlers: {
      'patience.wait': (_job: unknown, signal: AbortSignal) =>
        new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
    }
  })
})
await runCli([patience])
