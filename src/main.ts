#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Caches compiled code between starts, which halves the time to the first response. All other code is loaded after this.
// Node's default is /tmp, where another user of the machine could plant code that this process would run.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
const { runCommand } = await import('./cli/commands.ts')
await runCommand(process.argv)
