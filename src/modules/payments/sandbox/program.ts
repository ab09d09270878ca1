import { createInterface } from 'node:readline'
import { openSandbox } from './server.ts'

// The process of the sandbox: its options are the first line of its input, and it says where it listens. It ends when
// whoever started it does, because its input ends then; what it knows is in its ledger.
const lines = createInterface({ input: process.stdin })
lines.once('line', async line => {
  try {
    const { url } = await openSandbox(JSON.parse(line))
    process.stdout.write(`${JSON.stringify({ url })}\n`)
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
    process.exit(1)
  }
})
lines.once('close', () => process.exit(0))
// The terminal's Ctrl-C is for the shop, which ends this process when it has finished.
process.on('SIGINT', () => {})
