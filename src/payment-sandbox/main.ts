import { createInterface } from 'node:readline'
import { startSandboxServer } from './server.ts'

// Entry of the sandbox process. It reads its options from the first line of stdin and prints its URL. It exits when its
// parent process does, because stdin closes then. Its state is in the ledger.
const lines = createInterface({ input: process.stdin })
lines.once('line', async line => {
  try {
    const { url } = await startSandboxServer(JSON.parse(line))
    process.stdout.write(`${JSON.stringify({ url })}\n`)
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`)
    process.exit(1)
  }
})
lines.once('close', () => process.exit(0))
// Ctrl-C also reaches this process. The shop stops it after its own shutdown.
process.on('SIGINT', () => {})
